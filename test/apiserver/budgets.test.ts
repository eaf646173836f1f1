// Budgets and other tools' locks on a real API server, judged by an onlooker with a watch of its own.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { holdAnnotation } from '../../src/api/hold.ts'
import { type DaemonSet, daemonSets, nodes } from '../../src/api/kube.ts'
import { type MaintenancePolicySpec, maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { renewNodeLease } from '../rollout-rig/cluster-objects.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import type { Sight } from '../rollout-rig/node-observer.ts'
import { listsApart, RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const zone = 'topology.kubernetes.io/zone'
const withinMs = 90_000
const zones: Readonly<Record<string, string>> = { w1: 'a', w2: 'a', w3: 'a', w4: 'b', w5: 'b', w6: 'b' }
const lockTools = [
  { type: 'Kured', tool: 'kured', lockAnnotation: 'weave.works/kured-node-lock' },
  { type: 'Kustodian', tool: 'kustodian', lockAnnotation: 'k8s.io/kustodian-node-lock' },
] as const

const text = 'true'
const script = { configMap: 'work', sha256: createHash('sha256').update(text).digest('hex') }
const only = (...values: string[]) => ({
  nodeSelector: { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values }] },
})

/** The most nodes of each zone that were away at once. */
function mostAway(sights: readonly Sight[]): Readonly<Record<string, number>> {
  const away = new Set<string>()
  const most: Record<string, number> = {}
  for (const { node, change } of sights) {
    if (change === 'away') away.add(node)
    else away.delete(node)
    for (const value of ['a', 'b']) {
      const count = [...away].filter((name) => zones[name] === value).length
      most[value] = Math.max(most[value] ?? 0, count)
    }
  }
  return most
}

describe.skipIf(missing)('one budget for everybody', () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 6, agentProcesses: 1, work: '1s', version: 'v1.35.4' },
      kubelets: false,
      apiArguments: listsApart,
    })
    for (const [name, value] of Object.entries(zones))
      await kubectl(rig.server, ['label', 'node', name, `${zone}=${value}`])
    await kubectl(rig.server, ['create', 'configmap', 'work', '-n', namespace, `--from-literal=script=${text}`])
  })

  afterAll(async () => {
    await rig?.stop()
  })

  beforeEach(async () => {
    rig.observer.sights.length = 0
    // Nobody plays their kubelets: in the end an old Lease would tell of a clock that is behind.
    for (const name of Object.keys(zones)) await renewNodeLease(rig.api, name, new Date(), signal)
  })

  const setPolicy = async (spec: MaintenancePolicySpec) => {
    const empty = { budgets: null, locks: null }
    const body = { spec: { ...empty, ...spec } }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
  }
  const blocked = async (name: string) =>
    (await rig.update(name)).status?.conditions?.find(({ type, status }) => type === 'Blocked' && status === 'True')

  test('for each zone: never two of one, and both at a time', async () => {
    await setPolicy({ budgets: [{ per: zone, maxUnavailable: '40%' }] })
    await rig.createUpdate('zones', { kubernetes: { version: 'v1.35.5' }, strategy: { maxUnavailable: 6 } })
    expect((await rig.ended('zones', withinMs)).status?.phase).toBe('Succeeded')
    expect(mostAway(rig.observer.sights)).toEqual({ a: 1, b: 1 })
    expect(Math.max(...rig.observer.sights.map(({ away }) => away))).toBe(2)
  })

  test('that a person uses up allows nothing, and says so at once', async () => {
    await kubectl(rig.server, ['cordon', 'w6'])
    await setPolicy({ budgets: [{ nodeSelector: { matchLabels: { [zone]: 'b' } }, maxUnavailable: 1 }] })
    await rig.createUpdate('spent', { script, ...only('w4', 'w5') })
    await vi.waitFor(async () => expect(await blocked('spent')).toBeDefined(), { timeout: withinMs })
    expect(await blocked('spent')).toMatchObject({
      reason: 'BudgetAllowsNothing',
      message: `nothing can start: ${zone}=b: 1 of 1 away: w6 (cordoned by a person); bring back what is away, or raise spec.budgets of MaintenancePolicy default`,
    })
    await rig.observer.catchUp()
    expect(rig.observer.cordoned()).toEqual(['w6'])
    await kubectl(rig.server, ['delete', 'directupdates.slipway.dev', 'spent'])
    await kubectl(rig.server, ['uncordon', 'w6'])
  })

  test('autoscalers are told while a node is under work, and a hold keeps it', async () => {
    await setPolicy({ leaveLoadBalancers: true })
    await rig.createUpdate('held', { script, ...only('w1') })
    const w1 = () => rig.observer.node('w1')
    await vi.waitFor(() => expect(rig.observer.cordoned()).toEqual(['w1']), { timeout: withinMs, interval: 20 })
    expect(w1()?.metadata.annotations).toMatchObject({
      'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true',
      'karpenter.sh/do-not-disrupt': 'true',
    })
    expect(w1()?.metadata.labels).toHaveProperty('node.kubernetes.io/exclude-from-external-load-balancers')
    const annotations = { [holdAnnotation]: JSON.stringify({ by: 'ana', why: 'disk' }) }
    await rig.api.patch(nodes, { name: 'w1' }, { type: 'merge', body: { metadata: { annotations } } }, signal)
    expect((await rig.ended('held', withinMs)).status?.phase).toBe('Succeeded')
    expect(rig.observer.cordoned()).toEqual(['w1'])
    expect(w1()?.metadata.annotations).not.toHaveProperty('karpenter.sh/do-not-disrupt')
    const kubeconfig = ['--kubeconfig', rig.server.kubeconfigPath]
    expect(await runSlipway(['release', 'w1', ...kubeconfig])).toMatchObject({
      code: 0,
      out: 'w1: the hold has ended (ana: disk)\nw1: uncordoned (it was cordoned for hold)\n',
    })
    await vi.waitFor(() => expect(rig.observer.cordoned()).toEqual([]), { timeout: withinMs })
    expect(w1()?.metadata.labels).not.toHaveProperty('node.kubernetes.io/exclude-from-external-load-balancers')
    expect(w1()?.metadata.annotations ?? {}).not.toHaveProperty('slipway.dev/cordon')
    // Whoever holds a node without saying who is known to the API server.
    expect(await runSlipway(['hold', 'w1', ...kubeconfig])).toMatchObject({ code: 0 })
    await vi.waitFor(() => expect(w1()?.metadata.annotations?.[holdAnnotation]).toContain('"by":"'), withinMs)
    expect(await runSlipway(['hold', 'w1', '--release', ...kubeconfig])).toMatchObject({ code: 0 })
  })

  describe.each(lockTools)('and for $tool', ({ type, tool, lockAnnotation }) => {
    const daemonSet = { namespace: 'kube-system', name: tool }
    const place = `${tool}=kube-system/${tool}`
    const locked = `locked-${tool}`
    const lock = async () => (await rig.api.get(daemonSets, daemonSet, signal)).metadata.annotations?.[lockAnnotation]
    const ownerOf = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text).nodeID)

    /** As both tools do it: takes the lock if nobody has it, by a write that fails if somebody was faster. */
    async function strangerTakes(): Promise<boolean> {
      const { metadata } = await rig.api.get(daemonSets, daemonSet, signal)
      if (metadata.annotations?.[lockAnnotation] !== undefined) return false
      const text = JSON.stringify({ nodeID: 'w6', metadata: { unschedulable: false }, created: new Date(), TTL: 0 })
      const body = { metadata: { resourceVersion: metadata.resourceVersion, annotations: { [lockAnnotation]: text } } }
      return rig.api.patch(daemonSets, daemonSet, { type: 'merge', body }, signal).then(
        () => true,
        () => false,
      )
    }

    async function strangerReleases(): Promise<void> {
      const body = { metadata: { annotations: { [lockAnnotation]: null } } }
      await rig.api.patch(daemonSets, daemonSet, { type: 'merge', body }, signal)
    }

    beforeAll(async () => {
      await rig.api.create<DaemonSet>(
        daemonSets,
        {
          apiVersion: daemonSets.apiVersion,
          kind: daemonSets.kind,
          metadata: daemonSet,
          spec: {
            selector: { matchLabels: { app: tool } },
            template: {
              metadata: { labels: { app: tool } },
              spec: { containers: [{ name: tool, image: `${tool}:1` }] },
            },
          },
        },
        signal,
      )
    })

    test('without the right to its DaemonSet nothing starts, and the message names the command', async () => {
      await setPolicy({ locks: [{ type, daemonSet }] })
      await rig.createUpdate('blind', { script, ...only('w1') })
      await vi.waitFor(async () => expect((await blocked('blind'))?.reason).toBe('ForeignLockUnknown'), {
        timeout: withinMs,
      })
      expect((await blocked('blind'))?.message).toContain(`slipway install --lock ${place}`)
      await kubectl(rig.server, ['delete', 'directupdates.slipway.dev', 'blind'])
      const { out } = await runSlipway(['install', '--print', '--namespace', namespace, '--lock', place])
      await kubectl(rig.server, ['apply', '-f', '-'], out)
    })

    test('its lock is taken and released by a stranger while an update runs: never both at work', async () => {
      await setPolicy({ locks: [{ type, daemonSet }] })
      const seen: string[] = []
      let taken = await strangerTakes()
      expect(taken).toBe(true)
      await rig.createUpdate(locked, { script, strategy: { maxUnavailable: 2 } })
      await vi.waitFor(async () => expect((await blocked(locked))?.reason).toBe('ForeignLockHeld'), {
        timeout: 60_000,
      })
      const message = `w6 holds annotation ${lockAnnotation} of DaemonSet kube-system/${tool} since `
      expect((await blocked(locked))?.message).toContain(message)
      const isOver = async () => (await rig.update(locked)).status?.phase === 'Succeeded'
      for (const endMs = Date.now() + withinMs; !(await isOver()); ) {
        expect(Date.now()).toBeLessThan(endMs)
        const { grants = [] } = (await rig.policy()).status?.ledger ?? {}
        const owner = ownerOf(await lock())
        // Read in this order: who holds a slot had the lock before, and has it until after.
        if (grants.length > 0) seen.push(owner ?? 'nobody')
        if (taken) {
          // What was put back before the lock was free may be seen a moment later; nothing new goes.
          await vi.waitFor(() => expect(rig.observer.cordoned()).toEqual([]), withinMs)
          await wait(300)
          expect(rig.observer.cordoned()).toEqual([])
          await strangerReleases()
          taken = false
          await wait(500)
        } else taken = await strangerTakes()
      }
      expect([...new Set(seen)].filter((owner) => owner !== 'slipway' && owner !== 'nobody')).toEqual([])
      expect(seen).toContain('slipway')
      if (taken) await strangerReleases()
      await vi.waitFor(async () => expect(await lock()).toBeUndefined(), { timeout: withinMs })
      expect((await rig.update(locked)).status?.progress).toBe('7/7')
      expect((await rig.api.get(nodes, { name: 'w1' }, signal)).spec.unschedulable).toBeUndefined()
    })
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'budgets', [/daemonsets/])
  })
})
