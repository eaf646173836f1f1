import { describe, expect, it } from 'vitest'
import type { GatewayMember, GatewayStatus } from '../../api/etcd-gateway.ts'
import { memberStates, type Sighting, successorsOf } from './member-states.ts'

const listed = (ID: string, part: Partial<GatewayMember> = {}): GatewayMember => ({
  ID,
  name: `m${ID}`,
  clientURLs: [`https://10.0.0.${ID}:2379`],
  isLearner: false,
  ...part,
})
const status = (id: string, part: Partial<GatewayStatus> = {}): GatewayStatus => ({
  header: { member_id: id, cluster_id: '1', revision: '1' },
  version: '3.6.8',
  dbSize: '20480',
  leader: '1',
  raftIndex: '90000',
  raftAppliedIndex: '90000',
  ...part,
})
const seen = (id: string, part: Partial<GatewayStatus> = {}, readProblem?: string): Sighting => ({
  seen: true,
  status: status(id, part),
  readProblem,
})

describe('a member of etcd', () => {
  it.each<[string, Sighting | undefined, object]>([
    ['well', seen('2'), { healthy: true, leader: false, version: '3.6.8', dbBytes: 20_480 }],
    ['a little behind', seen('2', { raftAppliedIndex: '85000' }), { healthy: true }],
    [
      'far behind',
      seen('2', { raftAppliedIndex: '84999' }),
      { healthy: false, behindBy: 5001, problem: 'it is 5001 entries behind' },
    ],
    ['without a leader', seen('2', { leader: '0' }), { healthy: false, problem: 'it knows no leader' }],
    ['without a majority', seen('2', {}, 'request timed out'), { healthy: false, problem: 'request timed out' }],
    ['that does not answer', { seen: false, problem: 'refused' }, { healthy: false, problem: 'refused' }],
    ['that never started', undefined, { healthy: false, problem: 'it has not started yet' }],
    [
      'at whose address another answers',
      seen('7'),
      { healthy: false, problem: 'another member, 7, answers at its address' },
    ],
  ])('%s', (_, sighting, state) => {
    const sightings = new Map([['1', seen('1')], ...(sighting ? [['2', sighting] as const] : [])])
    const states = memberStates([listed('1'), listed('2')], (id) => sightings.get(id))
    expect(states[0]).toMatchObject({ id: '1', leader: true, healthy: true })
    expect(states[1]).toMatchObject({ id: '2', name: 'm2', learner: false, ...state })
  })
})

it('those who may lead next are the healthy voters, by name', () => {
  const known = { learner: false, healthy: true, leader: false }
  const members = [
    { id: '1', name: 'c', ...known, leader: true },
    { id: '2', name: 'b', ...known },
    { id: '3', name: 'a', ...known, healthy: false },
    { id: '4', name: 'a', ...known, learner: true },
    { id: '5', name: 'a', ...known },
  ]
  expect(successorsOf('1', members).map(({ id }) => id)).toEqual(['5', '2'])
})
