// A leader that the machine froze for longer than its lease wakes up in the middle of its work: it must not do any of it.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { whyNoApiServer } from '../bed/programs.ts'
import { auditedWrites } from '../rollout-rig/audit-log.ts'
import { createWorkload } from '../rollout-rig/cluster-objects.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const to = 'v1.36.3'
const leaseMs = 15_000
const maxUnavailable = 3

describe.skipIf(missing)('a leader frozen for longer than its lease', () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 1, workers: 12, agentProcesses: 2, work: '2s', version: 'v1.35.4' })
    await createWorkload(rig.api, { name: 'shop', replicas: 12, maxUnavailable: 2 }, new AbortController().signal)
  })

  afterAll(async () => {
    await rig?.stop()
  })

  test('writes nothing after it woke, and the other finishes', async () => {
    const { leader, standby } = await rig.leader()
    const before = await rig.policy()
    await rig.createUpdate('to-1-36', { kubernetes: { version: to }, strategy: { maxUnavailable } })
    // In the middle: the control plane is done, workers are away and more are waiting.
    await vi.waitFor(() => expect(rig.observer.done(to)).toBeGreaterThanOrEqual(2), 60_000)
    leader.process.freeze()
    const frozenMs = Date.now()
    await vi.waitFor(async () => expect((await rig.leader()).leader).toBe(standby), 60_000)
    const doneAtHandOver = rig.observer.done(to)
    await vi.waitFor(() => expect(rig.observer.done(to)).toBeGreaterThan(doneAtHandOver), 60_000)
    await wait(Math.max(0, frozenMs + leaseMs + 1_000 - Date.now()))
    expect((await rig.update('to-1-36')).status?.phase).toBe('InProgress')
    const wokenMs = Date.now()
    leader.process.wake()

    const update = await rig.ended('to-1-36', 180_000)
    expect(update.status?.phase).toBe('Succeeded')
    const writes = await auditedWrites(rig.server)
    const by = ({ credentialId }: { readonly credentialId: string }) =>
      writes.filter((write) => write.credentialId === credentialId)
    // Both were really at work, so that silence means something.
    expect(by(leader).filter(({ atMs, target }) => atMs < frozenMs && target.startsWith('nodes/'))).not.toEqual([])
    expect(by(standby).filter(({ atMs, target }) => atMs > wokenMs && target.startsWith('nodes/'))).not.toEqual([])
    // Not even a write that the server would refuse; it may campaign again.
    expect(by(leader).filter(({ atMs, target }) => atMs >= wokenMs && !target.startsWith('leases/'))).toEqual([])

    const { ledger } = (await rig.policy()).status ?? {}
    expect(ledger).toMatchObject({ epoch: (before.status?.ledger?.epoch ?? 0) + 1, grants: [] })
    expect(Math.max(...rig.observer.sights.map(({ away }) => away))).toBeLessThanOrEqual(maxUnavailable)
    expect(rig.observer.done(to)).toBe(13)
    expect(rig.ranSteps().filter(({ times }) => times !== 1)).toEqual([])
  })
})
