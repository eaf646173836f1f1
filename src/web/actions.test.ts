import { expect, it } from 'vitest'
import { node, nodeState, update } from '../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { nodeProfile } from '../../test/samples/profiles.ts'
import { directUpdates } from '../api/direct-update.ts'
import { nodes } from '../api/kube.ts'
import { nodeProfiles } from '../api/node-profile.ts'
import { nodeStates } from '../api/node-state.ts'
import { ActionDesk } from './actions.ts'

const { signal } = new AbortController()

function deskOf(failed: number) {
  const profile = nodeProfile('base', { sysctls: { 'vm.swappiness': '10' } })
  const counts = { total: 3, applied: 3 - failed, drifted: 0, failed }
  const api = new FakeKubeApi().put(nodeProfiles, { ...profile, status: { nodes: counts } })
  const desk = new ActionDesk({
    ...{ api, clusterClock: new ManualClock(), random: fixedRandom() },
    whoAmI: async () => 'mira',
    parseManifest: () => Promise.reject(new Error('nothing is made here')),
  })
  return { api, desk }
}

it.each([
  [undefined, 'base: 2 nodes are tried again; follow it: slipway status', 'slipway retry --profile base'],
  [['w3'], 'base: w3 tried again; follow it: slipway status', 'slipway retry --profile base w3'],
] as const)('a profile is tried again on %j, as by the command that is named', async (named, message, command) => {
  const { api, desk } = deskOf(2)
  const answer = await desk.carryOut({ action: 'retry-profile', profile: 'base', nodes: named }, signal)
  expect(answer).toEqual({ message, command })
  const { retry } = (await api.get(nodeProfiles, { name: 'base' }, signal)).spec
  expect(retry).toEqual({ token: '00000000', ...(named && { nodes: named }) })
})

it.each(['retry', 'retry-profile'] as const)('%s of a node keeps what was asked for before', async (action) => {
  const { api, desk } = deskOf(2)
  const operationID = action === 'retry' ? 'up/u-1-w' : 'profile:base/r1-1'
  const before = { token: '1', nodes: ['w1', 'w2'] }
  const failedFor = { update: 'up', operationID, phase: 'Failed' as const }
  const status = { phase: 'Failed' as const, operationID, nodes: [{ name: 'w3', phase: 'Failed' as const }] }
  const { metadata } = update()
  api.put(nodeStates, nodeState('w1', failedFor), nodeState('w2', { ...failedFor, retried: '1' }))
  api.put(directUpdates, { metadata: { ...metadata, name: 'up' }, spec: { retry: before }, status })
  await api.patch(nodeProfiles, { name: 'base' }, { type: 'merge', body: { spec: { retry: before } } }, signal)
  await desk.carryOut({ action, update: 'up', profile: 'base', nodes: ['w3'] }, signal)
  const { spec } =
    action === 'retry' ? api.found(directUpdates, { name: 'up' }) : api.found(nodeProfiles, { name: 'base' })
  expect(spec.retry).toEqual({ token: '00000000', nodes: ['w3', 'w1'] })
})

it('a node that is being drained is released by no button, in the words of the command', async () => {
  const { api, desk } = deskOf(0)
  api.put(nodes, node('w1', { cordon: 'update' })).put(nodeStates, nodeState('w1', { phase: 'Draining' }))
  await expect(desk.carryOut({ action: 'release', nodes: ['w1'] }, signal)).rejects.toMatchObject({
    ...{ code: 'Refused', message: 'w1 is being drained for update to-1-36' },
    nextStep: expect.stringContaining('slipway cancel to-1-36 ends that'),
  })
  expect(api.found(nodes, { name: 'w1' }).spec.unschedulable).toBe(true)
})

it('a hold is taken back while the node is being drained, and that alone', async () => {
  const { api, desk } = deskOf(0)
  api.put(nodes, node('w1', { cordon: 'update' })).put(nodeStates, nodeState('w1', { phase: 'Draining' }))
  const { annotations } = api.found(nodes, { name: 'w1' }).metadata
  await desk.carryOut({ action: 'hold', nodes: ['w1'] }, signal)
  const { message } = await desk.carryOut({ action: 'release', nodes: ['w1'] }, signal)
  expect(message).toContain('else it stays as it is: w1 is being drained for update to-1-36')
  const { metadata, spec } = api.found(nodes, { name: 'w1' })
  expect([metadata.annotations, spec.unschedulable]).toEqual([annotations, true])
})

it('one that failed nowhere is refused in the words of the command', async () => {
  const trying = deskOf(0).desk.carryOut({ action: 'retry-profile', profile: 'base' }, signal)
  await expect(trying).rejects.toMatchObject({ code: 'Refused', message: expect.stringContaining('no node failed') })
})
