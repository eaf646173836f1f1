import { describe, expect } from 'vitest'
import { deployments } from '../../src/api/kube.ts'
import { scenario } from './story.ts'

const all = { preflight: { skip: [] } }

describe('an update that preflight does not let go', () => {
  scenario('touches nothing, says why, and starts when it is put right', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(10_000)
    const waiting = await update.script('true', all).is('Pending', 'PreflightFailed')
    expect(waiting.condition('Planned')?.message).toMatch(/^DisruptionBudgets \(Failed\): .*shop\/web/)
    await cluster.pass(120_000)
    expect(cluster.taken).toEqual([])
    await person.changes(deployments, 'web', { spec: { replicas: 3 } })
    await waiting.succeeds()
    expect(waiting.status.preflight).toContainEqual(
      expect.objectContaining({ check: 'DisruptionBudgets', result: 'Passed' }),
    )
  })

  scenario('goes when the check is skipped, and that stays on record', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(10_000)
    const waiting = await update.script('true', all).is('Pending', 'PreflightFailed')
    await waiting.isEdited({ preflight: { skip: ['DisruptionBudgets'] } })
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    expect(waiting.status.preflight).toContainEqual(
      expect.objectContaining({ check: 'DisruptionBudgets', result: 'Skipped' }),
    )
  })
})
