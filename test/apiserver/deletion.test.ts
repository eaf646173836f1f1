// What a rollout stands on is deleted in the middle of it: it ends cleanly or goes on, and nothing of ours is left behind.

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { createNode, createWorkload } from '../rollout-rig/cluster-objects.ts'
import { kubectl } from '../rollout-rig/installation.ts'
import { listsApart, RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const maxUnavailable = 3
const withinMs = 90_000
const byPerson = 'w2'

describe.skipIf(missing)('a rollout that loses what it stands on', () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 9, agentProcesses: 2, work: '1s', version: 'v1.35.4' },
      apiArguments: listsApart,
    })
    await createWorkload(rig.api, { name: 'shop', replicas: 8, maxUnavailable: 2 }, signal)
    await kubectl(rig.server, ['cordon', byPerson])
  })

  afterAll(async () => {
    await rig?.stop()
  })

  beforeEach(() => {
    rig.observer.sights.length = 0
  })

  const begin = async (name: string, version: string) => {
    await rig.createUpdate(name, { kubernetes: { version }, strategy: { maxUnavailable } })
    await vi.waitFor(() => expect(rig.observer.done(version)).toBeGreaterThanOrEqual(2), withinMs)
    await vi.waitFor(() => expect(rig.observer.cordoned().length).toBeGreaterThan(1), withinMs)
  }

  /** A person's cordon is as it was, and no other is left; no slot, no mark, no order that could still start. */
  const nothingIsLeft = async () => {
    await vi.waitFor(() => expect(rig.observer.cordoned()).toEqual([byPerson]), withinMs)
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])
    await rig.observer.catchUp()
    const marked = rig.observer.nodes().filter(({ metadata }) => metadata.annotations?.['slipway.dev/cordon'])
    expect(marked.map(({ metadata }) => metadata.name)).toEqual([])
    const { items } = await rig.api.list(nodeStates, {}, signal)
    const open = items.filter(({ spec, status }) => spec.order && status?.agent?.order?.state !== 'Succeeded')
    expect(open.map(({ metadata }) => metadata.name)).toEqual([])
    expect(rig.ranSteps().filter(({ times }) => times !== 1)).toEqual([])
    // The one the person cordoned is away all the time, at no slot.
    expect(Math.max(...rig.observer.sights.map(({ away }) => away))).toBeLessThanOrEqual(maxUnavailable + 1)
  }

  test('the DirectUpdate: its nodes are put back and it goes', async () => {
    await begin('deleted', 'v1.35.5')
    await rig.api.delete(directUpdates, { name: 'deleted' }, {}, signal)
    await vi.waitFor(async () => expect(await rig.isGone('deleted')).toBe(true), withinMs)
    await nothingIsLeft()
    expect(rig.observer.done('v1.35.4')).toBeGreaterThan(0)
  })

  test('a Node under work: the others are done, and a new one of that name is another machine', async () => {
    await begin('node-deleted', 'v1.35.6')
    const lost = await vi.waitFor(() => {
      const [name] = rig.observer.cordoned().filter((cordoned) => cordoned !== byPerson)
      if (name === undefined) throw new Error('no node is under work')
      return name
    }, withinMs)
    const draft = rig.drafts.find(({ name }) => name === lost)
    await rig.api.delete(nodes, { name: lost }, {}, signal)
    const { status } = await rig.ended('node-deleted', withinMs)
    expect(status).toMatchObject({ phase: 'Succeeded', summary: { total: 9 } })
    expect(rig.observer.node(lost)).toBeUndefined()
    const states = async () => (await rig.api.list(nodeStates, {}, signal)).items
    expect((await states()).map(({ metadata }) => metadata.name)).not.toContain(lost)
    await nothingIsLeft()

    if (draft) await createNode(rig.api, draft, signal)
    await vi.waitFor(async () => {
      const state = (await states()).find(({ metadata }) => metadata.name === lost)
      expect(state?.metadata.ownerReferences?.[0]?.uid).toBe(rig.observer.node(lost)?.metadata.uid)
      expect(state?.status?.agent).toBeDefined()
    }, withinMs)
  })

  // One with an owner may be collected before the operator comes to it.
  test('a NodeState of no node that nobody else would take away', async () => {
    const { apiVersion, kind } = nodeStates
    await rig.api.create(nodeStates, { apiVersion, kind, metadata: { name: 'nobody' }, spec: {} }, signal)
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(nodeStates, {}, signal)
      expect(items.map(({ metadata }) => metadata.name)).not.toContain('nobody')
    }, withinMs)
  })

  test('the MaintenancePolicy: the ledger is made again with a higher epoch, and the limits hold', async () => {
    await begin('policy-deleted', 'v1.36.0')
    const before = await rig.policy()
    await rig.api.delete(maintenancePolicies, { name: policyName }, {}, signal)
    expect((await rig.ended('policy-deleted', withinMs)).status?.phase).toBe('Succeeded')
    const after = await rig.policy()
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
    expect(after.status?.ledger?.epoch).toBeGreaterThan(before.status?.ledger?.epoch ?? 0)
    await nothingIsLeft()
    // The person's node was worked on like the others, and stays cordoned.
    expect(rig.observer.node(byPerson)?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.0')
    expect(rig.observer.node(byPerson)?.spec.unschedulable).toBe(true)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'deletion')
  })
})
