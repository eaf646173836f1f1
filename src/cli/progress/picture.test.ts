import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { node, nodeState, operation, update, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { directUpdates } from '../../api/direct-update.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodePhases, nodeStates } from '../../api/node-state.ts'
import { type Frame, pictureLines } from './picture.ts'
import type { RolloutSnapshot } from './sink.ts'
import { progressView } from './view.ts'

const now = new Date('2026-11-15T12:05:00Z')
const frame: Frame = { columns: 80, rows: 24, color: false }

function midway(): RolloutSnapshot {
  const api = upgradeMidway()
  return {
    now,
    update: api.found(directUpdates, { name: 'to-1-36' }),
    nodes: api.stored(nodes),
    nodeStates: api.stored(nodeStates),
    policy: api.found(maintenancePolicies, { name: 'default' }),
  }
}

const picture = (snapshot: RolloutSnapshot, changes: Partial<Frame> = {}) =>
  pictureLines(progressView(snapshot), { ...frame, ...changes }).join('\n')

describe('the live picture', () => {
  it('shows waves, nodes under work and what waits', async () => {
    expect(picture(midway())).toMatchInlineSnapshot(`
      "to-1-36  InProgress  v1.35.4 → v1.36.3  5m
      █████████████████▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░  3/7 done, 2 under work, 2 waiting
      control plane  ●●●
      workers        ◔◑··
        ◔ w1  Draining  2m30s  2 of 12 pods left; waiting for PodDisruptionBudget sho…
        ◑ w2  Working      1m  upgrade-kubelet
        · w3, w4: budget "cluster" allows 2 nodes away; w1, w2 already are"
    `)
  })

  it('fits a narrow window', async () => {
    expect(picture(midway(), { columns: 40 })).toMatchInlineSnapshot(`
      "to-1-36  InProgress  v1.35.4 → v1.36.3 …
      ██▒░░  3/7 done, 2 under work, 2 waiting
      control plane  ●●●
      workers        ◔◑··
        ◔ w1  Draining  2m30s  2 of 12 pods l…
        ◑ w2  Working      1m  upgrade-kubelet
        · w3, w4: budget "cluster" allows 2 n…"
    `)
  })

  it('paints only when colours are wanted', async () => {
    const snapshot = midway()
    const esc = String.fromCharCode(27)
    expect(picture(snapshot)).not.toContain(esc)
    const painted = picture(snapshot, { color: true })
    expect(painted).toContain(`${esc}[33m◔`)
    const unpainted = painted.replaceAll(new RegExp(`${esc}\\[\\d+m`, 'g'), '')
    expect(
      unpainted
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n'),
    ).toBe(picture(snapshot))
  })

  it('puts failures first and names what the operator refuses', () => {
    const failed = nodeState('w2', { phase: 'Failed', reason: { code: 'StepFailed', message: 'script ended with 7' } })
    const refused = {
      ...{ type: 'Planned', status: 'False' as const, reason: 'Downgrade', message: 'w9 runs v1.37.0' },
      lastTransitionTime: '2026-11-15T12:00:00Z',
    }
    const status = { phase: 'InProgress' as const, operationID: operation, conditions: [refused] }
    const snapshot = {
      ...{ now, update: update(status), nodes: [node('w1'), node('w2')] },
      nodeStates: [nodeState('w1', { phase: 'Verifying' }), failed],
      policy: { metadata: update().metadata, spec: { paused: true } },
    }
    expect(picture(snapshot)).toMatchInlineSnapshot(`
      "to-1-36  InProgress  v1.36.3  5m
      ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  0/2 done, 1 under work, 1 failed
      MaintenancePolicy/default is paused: nothing new starts
      Downgrade: w9 runs v1.37.0
      workers  ◕✗
        ✗ w2  Failed        5m  script ended with 7
        ◕ w1  Verifying     5m"
    `)
  })

  it('summarises more nodes than the window has places for', () => {
    const many: Node[] = Array.from({ length: 5000 }, (_, index) => node(`w${index}`))
    const states = many.map((member, index) =>
      nodeState(member.metadata.name, { phase: index < 2000 ? 'Done' : index < 2100 ? 'Working' : 'Pending' }),
    )
    const lines = picture({
      now,
      update: update({ phase: 'InProgress', operationID: operation }),
      nodes: many,
      nodeStates: states,
    })
    expect(lines.split('\n')).toHaveLength(23)
    expect(lines).toContain('workers  ●2000 ◑100 ·2900')
    expect(lines).toContain('more under work')
  })

  it('keeps to the smallest window', () => {
    const members = ['cp1', 'w1', 'w2', 'w3', 'w4', 'w5']
    const states = members.map((name, index) =>
      nodeState(name, {
        phase: index < 3 ? 'Failed' : 'Pending',
        reason: { code: 'BudgetSpent', message: `reason ${index}` },
      }),
    )
    const snapshot = {
      ...{ now, update: update({ phase: 'InProgress', operationID: operation }), nodeStates: states },
      nodes: members.map((name) => node(name, { controlPlane: name === 'cp1' })),
      policy: { metadata: update().metadata, spec: { paused: true } },
    }
    expect(picture(snapshot, { rows: 7 }).split('\n')).toHaveLength(6)
  })

  it('never passes the edges of the window, whatever the phases', () => {
    const member = fc.record({
      name: fc.stringMatching(/^[a-z]{1,30}$/),
      phase: fc.constantFrom(...nodePhases),
      message: fc.string({ maxLength: 200 }).map((text) => text.replaceAll(/\s/g, ' ')),
    })
    fc.assert(
      fc.property(
        fc.uniqueArray(member, { selector: ({ name }) => name, maxLength: 60 }),
        fc.integer({ min: 20, max: 140 }),
        fc.integer({ min: 7, max: 50 }),
        (members, columns, rows) => {
          const snapshot = {
            ...{ now, update: update({ phase: 'InProgress', operationID: operation }) },
            nodes: members.map(({ name }) => node(name)),
            nodeStates: members.map(({ name, phase, message }) =>
              nodeState(name, { phase, reason: { code: 'BudgetSpent', message } }),
            ),
          }
          const lines = picture(snapshot, { columns, rows }).split('\n')
          expect(lines.length).toBeLessThan(rows)
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
        },
      ),
      { numRuns: 200 },
    )
  })
})
