// slipway why and nodes where no update is at work: a profile by itself, or a node's own maintenance.

import { describe, expect, it } from 'vitest'
import { cliFixture, node, nodeState, update } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import { type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates, type Rollout } from '../../api/node-state.ts'

const reason = { code: 'StepFailed', message: 'step sysctls failed with exit code 1' } as const
const at = { lastTransitionTime: '2026-11-15T12:00:00Z' }
const base = {
  ...nodeProfile('base', { sysctls: { 'vm.swappiness': '10' } }),
  status: {
    phase: 'Failed' as const,
    nodes: { total: 3, applied: 2, drifted: 0, failed: 1 },
    conditions: [
      { type: 'Accepted', status: 'True' as const, reason: 'Accepted', message: 'it can be applied', ...at },
      { type: 'Applied', status: 'False' as const, reason: 'StepFailed', message: `2 of 3: ${reason.message}`, ...at },
    ],
  },
}
const ofProfile: Partial<Rollout> = { kind: 'NodeProfile', update: 'base', operationID: 'profile:base/1a2b-1' }
const ofMaintenance: Partial<Rollout> = { kind: 'Maintenance', update: 'default', operationID: 'maintenance:w2/1' }

function cluster(): FakeKubeApi {
  return new FakeKubeApi()
    .put(nodes, node('w1'), node('w2'), node('w3'))
    .put(
      nodeStates,
      nodeState('w1', { ...ofProfile, phase: 'Failed', reason }),
      nodeState('w2', { ...ofMaintenance, phase: 'Draining' }),
      nodeState('w3'),
    )
    .put(nodeProfiles, base)
}

async function told(api: FakeKubeApi, ...argv: readonly string[]): Promise<string> {
  const cli = cliFixture(api)
  expect({ code: await cli.run(...argv), err: cli.err.text }).toEqual({ code: 0, err: '' })
  return cli.out.text
}

describe('why', () => {
  it('a node on which a profile failed is told of with the way on', async () => {
    expect(await told(cluster(), 'why', 'w1')).toContain(
      `w1 is Failed for NodeProfile base (since 12:00:00, 5m)
    when it is put right: slipway retry --profile base w1; slipway release w1 gives it back as it is
`,
    )
  })

  it('a node under its own maintenance is under no update, and what failed elsewhere is not its cause', async () => {
    expect(await told(cluster(), 'why', 'w2')).toMatchInlineSnapshot(`
      "Node w2: w2 is Draining for its own maintenance (since 12:00:00, 5m)
        NodeProfile base failed on another node: 2 of 3: step sysctls failed with exit code 1 (since 12:00:00, 5m)
          where, and what to do: slipway why base
      "
    `)
  })

  it('a profile is told of by its name, with where it failed', async () => {
    const text = await told(cluster(), 'why', 'base')
    expect(text).toMatchInlineSnapshot(`
      "NodeProfile base: w1 Failed: step sysctls failed with exit code 1
        StepFailed: a step on the host failed; its last lines are quoted, and slipway logs NODE has more
        it is Failed: 2/3 applied, 0 drifted, 1 failed
          when the cause is gone: slipway retry --profile base; each change of what it wants is another attempt, too
      "
    `)
    expect(await told(cluster(), 'why')).toContain(text)
  })

  it('its nodes are told of beside an update that runs under the same name', async () => {
    const running = update({ phase: 'InProgress' })
    const api = cluster().put(directUpdates, { ...running, metadata: { ...running.metadata, name: 'base' } })
    expect(await told(api, 'why')).toContain('w1 is Failed for NodeProfile base')
  })

  it('and also where another operation has come after', async () => {
    const failed = [{ operationID: 'profile:base/1a2b-1', phase: 'Failed' as const, attempt: 1, reason }]
    const state = nodeState('w1', { phase: 'Working' })
    const api = cluster().put(nodeStates, { ...state, status: { ...state.status, failed } })
    expect(await told(api, 'why', 'base')).toContain('NodeProfile base: w1 Failed: step sysctls failed')
    expect(await told(api, 'why', 'w1')).not.toContain('failed on another node')
  })

  it.each<[string, DirectUpdateStatus | undefined, string]>([
    ['runs', { phase: 'Failed' }, 'slipway retry to-1-36 w1; slipway skip to-1-36 w1 leaves it out'],
    ['was cancelled', { phase: 'Cancelled' }, 'slipway release w1'],
    ['is gone', undefined, 'slipway release w1'],
  ])('a node that failed for an update that %s goes on with what helps then', async (_, status, command) => {
    const api = cluster().put(nodeStates, nodeState('w1', { phase: 'Failed', reason }))
    if (status) api.put(directUpdates, update(status))
    expect(await told(api, 'why', 'w1')).toContain(`when it is put right: ${command}\n`)
  })
})

it('nodes names a profile and maintenance as such, also as data', async () => {
  const table = await told(cluster(), 'nodes')
  expect(table).toMatch(/^w1 .* profile base +Failed/m)
  expect(table).toMatch(/^w2 .* \(maintenance\) +Draining/m)
  expect(JSON.parse(await told(cluster(), 'nodes', '-o', 'json'))).toMatchObject([
    { name: 'w1', update: 'base', kind: 'NodeProfile' },
    { name: 'w2', update: 'default', kind: 'Maintenance' },
    { name: 'w3' },
  ])
})
