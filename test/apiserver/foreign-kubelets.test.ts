// A rehearsal on nodes whose kubelets somebody else plays, as kwok does: the pretend machines tell of the restart themselves.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { whyNoApiServer } from '../bed/programs.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const to = 'v1.36.3'

describe.skipIf(missing)('pretend agents on nodes that others animate', () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 5, agentProcesses: 1, work: '1s', version: 'v1.35.4' },
      kubelets: false,
    })
  })

  afterAll(async () => {
    await rig?.stop()
  })

  test('are upgraded, also when the pretend machines are killed in between', async () => {
    expect(rig.observer.nodes().map(({ status }) => status?.nodeInfo?.bootID)).toEqual(Array(6).fill(''))
    await rig.createUpdate('to-1-36', {
      kubernetes: { version: to },
      strategy: { maxUnavailable: 5 },
      // Such nodes do not say which container runtime they have.
      preflight: { skip: ['TargetRequirements'] },
    })
    const underWork = () => rig.ranSteps().filter(({ node, step }) => node !== 'cp1' && step === 'upgrade-kubelet')
    await vi.waitFor(() => expect(underWork()).toHaveLength(5), { timeout: 60_000, interval: 50 })
    const [agents] = rig.agents
    await agents?.kill()
    agents?.start()
    expect((await rig.ended('to-1-36', 60_000)).status?.phase).toBe('Succeeded')
    expect(rig.observer.done(to)).toBe(6)
    expect(rig.observer.nodes().filter(({ status }) => !status?.nodeInfo?.bootID)).toEqual([])
    expect(rig.ranSteps().filter(({ times }) => times !== 1)).toEqual([])
  })
})
