import { describe, expect, it } from 'vitest'
import type { EtcdMemberState, EtcdReport } from '../../api/control-plane.ts'
import { type BackupHost, chooseHost, type HostWish } from './host-choice.ts'

const member = (id: string, more: Partial<EtcdMemberState> = {}): EtcdMemberState => ({
  ...{ id, name: `cp${id}`, learner: false, healthy: true, leader: id === '1' },
  ...more,
})
const etcd = (own: string, more: Partial<EtcdReport> = {}, ...members: EtcdMemberState[]): EtcdReport => ({
  ...{ place: 'Local', member: own, alarms: [] },
  members: members.length > 0 ? members : ['1', '2', '3'].map((id) => member(id)),
  ...more,
})
const host = (id: string, more: Partial<BackupHost> = {}): BackupHost => ({
  ...{ name: `cp${id}`, isReady: true, isTaken: false },
  agent: { canBackUp: true, publicKey: 'key', etcd: etcd(id) },
  ...more,
})
const wish: HostWish = { needsKey: false, isExternal: false, failed: [] }
const all = ['1', '2', '3'].map((id) => host(id))

describe('who is asked', () => {
  it.each<[string, readonly BackupHost[], Partial<HostWish>, string]>([
    ['a follower, the first by name', all, {}, 'cp2'],
    ['one that has not failed', all, { failed: ['cp2'] }, 'cp3'],
    ['the leader before one that failed', all, { failed: ['cp2', 'cp3'] }, 'cp1'],
    ['the one that failed least', all, { failed: ['cp2', 'cp3', 'cp1', 'cp2'] }, 'cp3'],
    ['the only one, again and again', [host('1')], { failed: ['cp1', 'cp1'] }, 'cp1'],
    ['one that is not under work', [host('2', { isTaken: true }), host('3')], {}, 'cp3'],
    ['one that is not on record for another', [host('2', { isReserved: true }), host('3')], {}, 'cp3'],
    ['one whose question was answered', [host('2', { asked: 'a', answer: answered('a', 'Failed') })], {}, 'cp2'],
    ['whoever reaches an etcd elsewhere', [host('2', { agent: { canBackUp: true, etcd: external } })], {}, 'cp2'],
    [
      'anybody, where the endpoints are given',
      [host('2', { agent: { canBackUp: true } })],
      { isExternal: true },
      'cp2',
    ],
  ])('%s', (_what, hosts, wanted, name) => {
    expect(chooseHost(hosts, { ...wish, ...wanted }).host?.name).toBe(name)
  })
})

describe('who is not', () => {
  const agent = (report: EtcdReport | undefined) => ({ canBackUp: true, etcd: report })
  it.each<[string, Partial<BackupHost>, Partial<HostWish>]>([
    ['cp2 is not Ready', { isReady: false }, {}],
    ['cp2 has no agent that reports', { agent: undefined }, {}],
    ['cp2 has an agent that cannot make backups', { agent: { canBackUp: false } }, {}],
    ['cp2 has published no key yet', { agent: agent(etcd('2')) }, { needsKey: true }],
    ['cp2 is under work', { isTaken: true }, {}],
    ['cp2 is busy with another backup', { asked: 'a' }, {}],
    ['cp2 is busy with another backup', { asked: 'a', answer: answered('a', 'Running') }, {}],
    ['cp2 is busy with another backup', { asked: 'b', answer: answered('a', 'Succeeded') }, {}],
    ['cp2 has not said how etcd is there', { agent: agent(undefined) }, {}],
    ['cp2 has no etcd that we find', { agent: agent(etcd('2', { place: 'None' })) }, {}],
    ['cp2 cannot ask etcd: certificate expired', { agent: agent(etcd('2', { reason: expired })) }, {}],
    ['cp2 runs etcd that is not among its members', { agent: agent(etcd('9')) }, {}],
    ['still a learner', { agent: agent(etcd('2', {}, member('2', { learner: true }))) }, {}],
    [
      'that is not healthy (slow disk)',
      { agent: agent(etcd('2', {}, member('2', { healthy: false, problem: 'slow disk' }))) },
      {},
    ],
    ['sees no healthy member', { agent: agent({ ...external, members: [member('1', { healthy: false })] }) }, {}],
  ])('%s', (says, state, wanted) => {
    const choice = chooseHost([host('2', state)], { ...wish, ...wanted })
    expect(choice).toMatchObject({ reason: { code: 'BackupHostMissing', message: expect.stringContaining(says) } })
  })

  it('says so where there is no control plane at all', () => {
    expect(chooseHost([], wish)).toMatchObject({
      reason: { message: expect.stringContaining('no control-plane node') },
    })
  })
})

const external: EtcdReport = { place: 'External', members: [member('1')], alarms: [] }
const expired = { code: 'EtcdUnknown', message: 'certificate expired' } as const

function answered(request: string, state: 'Running' | 'Failed' | 'Succeeded') {
  return { request, state, store: 'here', startedAt: '2026-01-05T10:00:00Z' }
}
