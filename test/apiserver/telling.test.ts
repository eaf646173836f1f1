// What operators tell others, with real ones at the other end: an Alertmanager that mutes nodes under work, and whoever reads the
// metrics.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type DirectUpdateSpec, directUpdates } from '../../src/api/direct-update.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { createScript } from '../../src/sim/workloads.ts'
import { type Monitoring, startMonitoring } from '../bed/monitoring.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const patience = { timeout: 240_000, interval: 200 }
const script = '#!/bin/sh\ntrue\n'
const alertsSchema = z.array(z.object({ labels: z.object({ severity: z.string() }) }))

describe.skipIf(missing)('operators tell others', () => {
  let rig: RolloutRig
  let monitoring: Monitoring

  /** The bed's alerts have two labels; here the severity stands for the node. */
  const ringing = async () => {
    const query = 'active=true&silenced=false&inhibited=false'
    const alerts = alertsSchema.parse(await (await fetch(`${monitoring.alertmanager}/api/v2/alerts?${query}`)).json())
    return alerts.map(({ labels }) => labels.severity).toSorted()
  }
  const rings = (...nodes: readonly string[]) =>
    vi.waitFor(async () => expect(await ringing()).toEqual(nodes), patience)
  const on = (node: string): DirectUpdateSpec => ({
    script: { configMap: 'work', sha256: createHash('sha256').update(script).digest('hex') },
    nodeSelector: { matchLabels: { 'kubernetes.io/hostname': node } },
    nodeTimeout: '25s',
  })

  beforeAll(async () => {
    monitoring = await startMonitoring()
    rig = await RolloutRig.start({ controlPlane: 1, workers: 2, agentProcesses: 1, work: '15s', version: 'v1.36.3' })
    await createScript(rig.api, 'work', script, signal)
    const spec = {
      silences: [
        { url: monitoring.alertmanager, matchers: ['alertname="NodeDown"', 'severity="{node}"'], lapseAfter: '1m' },
      ],
    }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
    for (const node of ['w1', 'w2']) await monitoring.fireAlert('NodeDown', node)
  })

  afterAll(async () => {
    await rig?.stop()
    await monitoring?.stop()
  })

  test('a node under work is mute, and rings when its work does not end', async () => {
    await rig.createUpdate('first', on('w1'))
    await rings('w2')
    await Promise.all(rig.agents.map((process) => process.kill()))
    await rings('w1', 'w2')
    await vi.waitFor(async () => expect((await rig.update('first')).status?.phase).toBe('RequiresAttention'), patience)
    for (const process of rig.agents) process.start()
    // Its time is over: where its step was cut off, it is not begun again, and w1 would stay away for the next update.
    await rig.api.delete(directUpdates, { name: 'first' }, {}, signal)
    await vi.waitFor(async () => expect(await rig.isGone('first')).toBe(true), patience)
  })

  test('requests to the API are counted where they are made', async () => {
    const { metricsUrl } = (await rig.leader()).leader
    const counted = async (name: string) => {
      const lines = (await (await fetch(metricsUrl)).text()).split('\n').filter((line) => line.startsWith(name))
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    }
    const names = ['slipway_api_requests_total{', 'slipway_api_request_duration_seconds_count{']
    const before = await Promise.all(names.map(counted))
    expect(Math.min(...before)).toBeGreaterThan(0)
    // The lease is renewed all the time.
    await vi.waitFor(async () => {
      for (const [index, name] of names.entries()) expect(await counted(name)).toBeGreaterThan(before[index] ?? 0)
    }, patience)
  })

  test('a node whose operators are gone rings by itself', async () => {
    await rig.createUpdate('second', on('w2'))
    await rig.meanwhile('second', rings('w1'))
    await Promise.all(rig.operators.map(({ process }) => process.kill()))
    expect(await ringing()).toEqual(['w1'])
    await rings('w1', 'w2')
  })
})
