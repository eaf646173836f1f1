// A canary on a real API server: its soak, an approval by the command line, a node that fails and is tried again, a pause and
// a leader killed in between.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { DirectUpdate } from '../../src/api/direct-update.ts'
import { createScript } from '../../src/sim/workloads.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'

const missing = await whyNoApiServer()
const from = 'v1.35.4'
const to = 'v1.36.3'
const script = '#!/bin/sh\ntrue\n'
const { signal } = new AbortController()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const waves = [{ size: 1, soak: '3s', promotion: 'Manual' as const }, { size: '50%' }, { size: '100%' }]
const patience = { timeout: 240_000, interval: 200 }

describe.skipIf(missing)('an update in waves', () => {
  let rig: RolloutRig
  const slipway = (...args: readonly string[]) => runSlipway(['--kubeconfig', rig.server.kubeconfigPath, ...args])
  const until = (holds: (update: DirectUpdate) => void) =>
    vi.waitFor(async () => {
      const update = await rig.update('canary')
      holds(update)
      return update
    }, patience)

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 1, workers: 6, agentProcesses: 2, work: '1s', version: from })
  })

  afterAll(async () => {
    await rig?.stop()
  })

  test('the canary alone, until its soak is over and a person has approved', async () => {
    await rig.createUpdate('canary', { kubernetes: { version: to }, strategy: { waves, maxUnavailable: 3 } })
    expect(await slipway('approve', 'canary')).toMatchObject({
      code: 3,
      err: expect.stringContaining('waits for no approval'),
    })
    await until(({ status }) => expect(status?.wave).toMatchObject({ index: 0, promotion: 'Wanted' }))
    await rig.observer.catchUp()
    expect(rig.observer.done(to)).toBe(2)
    await (await rig.leader()).leader.process.kill()
    await wait(3_000)
    expect(rig.observer.done(to)).toBe(2)
    const shown = await slipway('status', 'canary')
    expect(shown).toMatchObject({ code: 3, out: expect.stringContaining('slipway approve canary') })
    expect(await slipway('approve', 'canary')).toMatchObject({ code: 0, out: expect.stringMatching(/approved by \S+/) })
    const approved = await rig.update('canary')
    expect(approved.spec.approvals).toMatchObject([{ wave: 0, operationID: approved.status?.operationID }])
    expect(approved.spec.approvals?.[0]?.by).not.toBe('unknown')
  })

  test('paused it waits, resumed it goes on to its end', async () => {
    await until(({ status }) => expect(status?.wave?.index).toBeGreaterThan(0))
    expect(await slipway('pause', 'canary')).toMatchObject({ code: 0 })
    await until(({ status }) => expect(status).toMatchObject({ phase: 'Paused', summary: { working: 0 } }))
    await rig.observer.catchUp()
    const done = rig.observer.done(to)
    await wait(3_000)
    expect(rig.observer.done(to)).toBe(done)
    expect(done).toBeLessThan(7)
    expect(await slipway('resume', 'canary')).toMatchObject({ code: 0 })
    const { status } = await rig.ended('canary', 120_000)
    expect(status).toMatchObject({ phase: 'Succeeded', wave: { index: 2, of: 3, size: 6 } })
    expect(rig.observer.done(to)).toBe(7)
    expect(rig.observer.cordoned()).toEqual([])
    expect(rig.ranSteps().filter(({ times }) => times !== 1)).toEqual([])
  })

  test('a node that failed is tried again, and everything is put back when the rest is cancelled', async () => {
    // No agent can take an order: its node needs a person after nodeTimeout.
    await Promise.all(rig.agents.map((process) => process.kill()))
    await createScript(rig.api, 'again', script, signal)
    await rig.createUpdate('again', {
      script: { configMap: 'again', sha256: sha256(script) },
      // The control plane would wait for its agents' word before anything is taken.
      nodeSelector: { matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' }] },
      // Short, but long enough for a busy machine to do the work when it is tried again.
      nodeTimeout: '20s',
      skip: ['w99'],
    })
    await vi.waitFor(async () => expect((await rig.update('again')).status?.phase).toBe('RequiresAttention'), patience)
    expect((await rig.update('again')).status?.warnings).toMatchObject([
      { code: 'SkipUnknown', message: expect.stringContaining('w99') },
    ])
    for (const process of rig.agents) process.start()
    expect(await slipway('retry', 'again')).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect((await rig.update('again')).status?.summary?.done).toBeGreaterThan(0), patience)
    expect(await slipway('cancel', 'again')).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect((await rig.update('again')).status?.phase).toBe('Cancelled'), patience)
    await rig.observer.catchUp()
    expect(rig.observer.cordoned()).toEqual([])
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])
    expect(await slipway('retry', 'again')).toMatchObject({ code: 3, err: expect.stringContaining('was cancelled') })
  })
})
