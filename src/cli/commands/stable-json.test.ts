// The keys of every answer as data are part of the product: scripts read them. One may be added; none may go or change its name.

import { describe, expect, it } from 'vitest'
import { agentOf, cliFixture, nodeState, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import type { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { events } from '../../api/kube.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { RolloutFigures } from '../dependencies.ts'

const figures: RolloutFigures = {
  ...{ phase: 'Succeeded', nodes: 3, violations: [], makespanSeconds: 1, idealSeconds: 1, ratio: 1 },
  ...{ requestsPerNode: 1, seed: 1 },
}

function cluster(): FakeKubeApi {
  const made = { node: 'cp1', location: '/b/x', sha256: 'a'.repeat(64), bytes: 1, revision: '1', verified: 'Hash' }
  const backups = [{ store: 'here', lastSuccess: { subject: 's', name: 'x', at: '2026-11-15T12:00:00Z', ...made } }]
  const step = { name: 'run', state: 'Succeeded' as const, attempts: 1, logTail: 'done' }
  return upgradeMidway()
    .put(nodeStates, nodeState('w3', { phase: 'Working' }, agentOf({ id: 'o/1', state: 'Running', steps: [step] })))
    .put(maintenancePolicies, { metadata: { name: 'default' }, spec: {}, status: { backups } })
    .put(events, {
      ...{ metadata: { name: 'e', namespace: 'default' }, eventTime: '2026-11-15T12:00:00Z', type: 'Normal' },
      ...{ reportingController: 'slipway.dev/operator', reason: 'NodeDone', note: 'x' },
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'w1' },
    })
}

/** Each key by its path, once, whatever the length of lists. */
function keysOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => keysOf(one, `${path}[]`)))]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [`${path}.${key}`, ...keysOf(one, `${path}.${key}`)])
}

describe('the keys of --output json', () => {
  it.each([
    { argv: ['status'] },
    { argv: ['status', 'to-1-36'] },
    { argv: ['nodes'] },
    { argv: ['why', 'w1'] },
    { argv: ['why', 'to-1-36'] },
    { argv: ['events'] },
    { argv: ['report', '--patched-by', '2026-11-01'] },
    { argv: ['logs', 'w3'] },
    { argv: ['backup', 'list'] },
    { argv: ['doctor'] },
    { argv: ['demo', '--once'] },
    { argv: ['simulate'] },
  ])('of $argv stay', async ({ argv }) => {
    const cli = cliFixture(cluster(), {
      crds: async () => JSON.stringify({ metadata: { name: 'directupdates.slipway.dev' }, spec: {} }),
      runDemo: async () => figures,
      runSimulate: async () => ({ runs: 1, violations: [], rollouts: [figures] }),
    })
    await cli.run(...argv, '--output', 'json')
    expect(cli.err.text).toBe('')
    expect(keysOf(JSON.parse(cli.out.text)).join('\n')).toMatchSnapshot()
  })
})
