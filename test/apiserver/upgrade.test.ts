// From an earlier commit to this one in the middle of an update: its definitions, its operators, its agents and their journals are
// taken over, and nothing is done twice. And back again while nothing is under way.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { nodeStates } from '../../src/api/node-state.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import {
  type EarlierProgram,
  earlierProgram,
  earlierVersion,
  whyNoEarlierProgram,
} from '../rollout-rig/earlier-program.ts'
import { installFrom, kubectl } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { ownProgram } from '../rollout-rig/slipway-process.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoEarlierProgram())
const [before, first, second] = ['v1.35.4', 'v1.35.5', 'v1.36.3']
const { signal } = new AbortController()
const within = { timeout: 120_000, interval: 50 }
const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

describe.skipIf(missing)('an upgrade of Slipway itself', () => {
  let earlier: EarlierProgram
  let rig: RolloutRig

  beforeAll(async () => {
    earlier = await earlierProgram()
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 5, agentProcesses: 6, work: '2s', version: before },
      program: earlier.path,
    })
  })
  afterAll(async () => {
    await rig?.stop()
    await earlier?.[Symbol.asyncDispose]()
  })

  const agentOf = async (node: string) => (await rig.api.get(nodeStates, { name: node }, signal)).status?.agent
  const agentVersions = async () =>
    Promise.all(rig.drafts.map(async ({ name }) => (await agentOf(name))?.version ?? 'none'))
  /** Whose agent runs a step now. */
  const working = async () => {
    for (const { name, group } of rig.drafts) {
      const order = (await agentOf(name))?.order
      if (order?.state === 'Running' && order.steps.some(({ state }) => state === 'Running')) {
        return { name, group, order: order.id }
      }
    }
    throw new Error('no agent is at work')
  }
  const operatorsBecome = async (program: string) => {
    for (const { process } of rig.operators) await process.kill()
    await installFrom(program, rig.server)
    for (const { process } of rig.operators) await process.becomes(program)
  }
  const agentBecomes = async (group: string, program: string, told: string) => {
    await rig.agents.find(({ name }) => name === group)?.becomes(program)
    const names = rig.drafts.filter((draft) => draft.group === group).map(({ name }) => name)
    await vi.waitFor(async () => {
      for (const name of names) expect((await agentOf(name))?.version).toBe(told)
    }, within)
  }
  const eachNodeOnce = (to: string, name: string) => {
    expect(rig.observer.done(to)).toBe(6)
    expect(rig.observer.cordoned()).toEqual([])
    const steps = rig.ranSteps().filter(({ order }) => order.startsWith(`${name}/`))
    expect(steps.filter(({ times }) => times !== 1)).toEqual([])
    expect(new Set(steps.map(({ node, order }) => `${node} ${order}`)).size).toBe(6)
    expect(steps).toHaveLength(5 * 2 + 3)
  }

  test('takes a running update over, agent by agent, and no step is run twice', async () => {
    expect(new Set(await agentVersions())).toEqual(new Set([earlierVersion]))
    await rig.createUpdate('first', { kubernetes: { version: first }, strategy: { maxUnavailable: 2 } })
    // The control plane and a worker are done; others are in the middle of a step.
    await vi.waitFor(() => expect(rig.observer.done(first)).toBeGreaterThanOrEqual(2), within)
    const interrupted = await vi.waitFor(working, within)
    const { status: midway } = await rig.update('first')
    expect(midway?.phase).toBe('InProgress')

    await operatorsBecome(ownProgram)
    await agentBecomes(interrupted.group, ownProgram, version)
    for (const { group } of rig.drafts.filter(({ name }) => name !== interrupted.name)) {
      await agentBecomes(group, ownProgram, version)
    }

    const { status } = await rig.ended('first', within.timeout)
    expect(status).toMatchObject({
      phase: 'Succeeded',
      operationID: midway?.operationID,
      summary: { done: 6, failed: 0 },
    })
    eachNodeOnce(first, 'first')
    expect(new Set(await agentVersions())).toEqual(new Set([version]))
    // The order that was under way was carried to its end, not given anew.
    expect((await agentOf(interrupted.name))?.order).toMatchObject({ id: interrupted.order, state: 'Succeeded' })
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])
  })

  test('goes back while nothing is under way; the definitions stay the newer ones', async () => {
    const definitions = () => kubectl(rig.server, ['get', 'crd', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'])
    const newer = await definitions()
    for (const { process } of [...rig.operators]) await process.becomes(earlier.path)
    await Promise.all(rig.drafts.map(({ group }) => agentBecomes(group, earlier.path, earlierVersion)))

    await rig.createUpdate('second', { kubernetes: { version: second }, strategy: { maxUnavailable: 5 } })
    const { status } = await rig.ended('second', within.timeout)
    expect(status).toMatchObject({ phase: 'Succeeded', summary: { done: 6, failed: 0 } })
    eachNodeOnce(second, 'second')
    expect(await definitions()).toBe(newer)
  })
})
