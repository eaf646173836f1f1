import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { nodeProfile } from '../../test/samples/profiles.ts'
import { nodeProfiles } from '../api/node-profile.ts'
import { ActionDesk } from './actions.ts'

const { signal } = new AbortController()

function deskOf(failed: number) {
  const profile = nodeProfile('base', { sysctls: { 'vm.swappiness': '10' } })
  const nodes = { total: 3, applied: 3 - failed, drifted: 0, failed }
  const api = new FakeKubeApi().put(nodeProfiles, { ...profile, status: { nodes } })
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
] as const)('a profile is tried again on %j, as by the command that is named', async (nodes, message, command) => {
  const { api, desk } = deskOf(2)
  const answer = await desk.carryOut({ action: 'retry-profile', profile: 'base', nodes }, signal)
  expect(answer).toEqual({ message, command })
  const { retry } = (await api.get(nodeProfiles, { name: 'base' }, signal)).spec
  expect(retry).toEqual({ token: '00000000', ...(nodes && { nodes }) })
})

it('one that failed nowhere is refused in the words of the command', async () => {
  const trying = deskOf(0).desk.carryOut({ action: 'retry-profile', profile: 'base' }, signal)
  await expect(trying).rejects.toMatchObject({ code: 'Refused', message: expect.stringContaining('no node failed') })
})
