import { describe, expect } from 'vitest'
import { nodeStates } from '../../src/api/node-state.ts'
import { scenario } from './story.ts'

describe('the look ahead', () => {
  scenario('stands in the status before the first node is done', { nodes: 5 }, async ({ update }) => {
    const running = await update.script('true', { strategy: { maxUnavailable: 2 } }).starts()
    expect(running.status.preview).toMatchObject({
      waves: [
        { nodes: 1, first: ['cp1'] },
        { nodes: 4, first: ['w1', 'w2', 'w3', 'w4'] },
      ],
      duration: '6m',
      blockers: [],
    })
    const { preview } = running.status
    await running.succeeds()
    expect(running.status.preview).toEqual(preview)
  })

  scenario('knows that of two workers one stays for the pods', { nodes: 3 }, async ({ update }) => {
    const planned = await update.script('true', { dryRun: true, strategy: { maxUnavailable: 2 } }).is('Planned')
    expect(planned.status.preview?.duration).toBe('6m')
  })

  scenario('is all there is of a dry run; without it the update starts', { nodes: 3 }, async ({ cluster, update }) => {
    const planned = await update.script('true', { dryRun: true }).is('Planned')
    await cluster.pass(120_000)
    expect(planned.status.preview?.waves).toEqual([
      { nodes: 1, first: ['cp1'] },
      { nodes: 2, first: ['w1', 'w2'] },
    ])
    expect(planned.condition('Planned')).toMatchObject({ status: 'True' })
    expect(planned.condition('Reconciling')).toMatchObject({ status: 'False' })
    expect(planned.object?.metadata.finalizers ?? []).toEqual([])
    expect(cluster.taken).toEqual([])
    expect(cluster.ledger.grants).toEqual([])
    expect(cluster.sim.server.peekAll(nodeStates).every(({ spec }) => spec.order === undefined)).toBe(true)
    await planned.isEdited({ dryRun: false })
    await planned.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
    expect(planned.status.history?.[0]?.phase).toBe('Planned')
  })

  scenario('of a dry run that can never start says why', { nodes: 3 }, async ({ update }) => {
    await update.kubernetes('v1.34.0', { dryRun: true }).is('Failed', 'Downgrade')
  })

  scenario('tells what is in the way already', { nodes: 4 }, async ({ cluster, person, update }) => {
    cluster.machine('w2').losePower()
    await cluster.pass(60_000)
    await person.setsPolicy({ paused: true })
    const planned = await update.script('true', { dryRun: true }).is('Planned')
    expect(planned.status.preview?.blockers.map(({ reason }) => reason.code)).toEqual(['PolicyPaused', 'NodeNotReady'])
  })
})

scenario('of an update that runs already changes nothing', { nodes: 3 }, async ({ cluster, update }) => {
  const running = update.script('true')
  await running.hasDone(1)
  await running.isEdited({ dryRun: true })
  for (const process of cluster.sim.programs()) process.crash()
  await running.succeeds()
})
