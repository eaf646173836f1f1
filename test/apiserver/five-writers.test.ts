// Five who want nodes at the same time, and one budget: two updates, a profile, hosts that ask for a reboot, and a stranger who
// reboots nodes under kured's lock. Judged by a program that is not ours, and by what the API server wrote down.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { daemonSets, pods } from '../../src/api/kube.ts'
import { type MaintenancePolicySpec, maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { commitOfTree, keepResult, today } from '../proof/kept-results.ts'
import { auditedWrites } from '../rollout-rig/audit-log.ts'
import { createWorkload } from '../rollout-rig/cluster-objects.ts'
import { auditTestimony, Stranger, Witness, whyNoPython } from '../rollout-rig/foreign-program.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoPython())
const { signal } = new AbortController()
const seed = Number(process.env.SLIPWAY_SEED ?? Date.now() % 1_000_000)
const size = Number(process.env.SLIPWAY_NODES ?? 60)
/** By `make proof-apiserver`: the figures are kept. */
const isProof = process.env.SLIPWAY_PROOF !== undefined
const commit = commitOfTree()
const writers = [
  'DirectUpdate north',
  'DirectUpdate south',
  'NodeProfile motd',
  'reboot sentinels',
  'a stranger with kured’s lock',
]
const limit = Math.round(size / 10)
const zoneLimit = Math.ceil(limit / 3)
const outageMs = 60_000
const leaseMs = 15_000
const withinMs = 300_000 + size * 5_000

const zone = 'topology.kubernetes.io/zone'
const part = 'test.slipway.dev/part'
const kured = { namespace: 'kube-system', name: 'kured' }
const sentinels = ['/var/run/reboot-required', '/var/run/reboot-wanted'] as const
const asRoot = { mode: 0o644, owner: 'root', group: 'root' }
const scripts = { north: '#!/bin/sh\n# north\n', south: '#!/bin/sh\n# south\n' } as const
const inParts = (...values: string[]) => ({
  nodeSelector: { matchExpressions: [{ key: part, operator: 'In' as const, values }] },
})

describe.skipIf(missing)(`five writers and ${size} nodes (SLIPWAY_SEED=${seed})`, () => {
  let rig: RolloutRig
  let witness: Witness
  let stranger: Stranger
  const random = new SeededRandom(seed)

  beforeAll(async () => {
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: size - 1, agentProcesses: 2, work: '1s', version: 'v1.36.3' },
      ...{ nodeLifecycle: false, auditWhole: ['nodes'] },
      labelsOf: (index) => ({ [zone]: `z${index % 4}`, [part]: `p${Math.floor(index / 4) % 4}` }),
    })
    for (const name of ['shop', 'search', 'mail', 'cart'])
      await createWorkload(rig.api, { name, replicas: Math.ceil(size / 5), maxUnavailable: zoneLimit }, signal)
    for (const [name, text] of Object.entries(scripts))
      await kubectl(rig.server, ['create', 'configmap', name, '-n', namespace, `--from-literal=script=${text}`])
    await vi.waitFor(async () => expect(await runningPods()).toBe(4 * Math.ceil(size / 5)), { timeout: 120_000 })
    await createKured()
    await setPolicy({
      budgets: [{ maxUnavailable: limit }, { per: zone, maxUnavailable: zoneLimit }],
      locks: [{ type: 'Kured', daemonSet: kured }],
    })
    witness = await Witness.start(rig.server)
    stranger = await Stranger.start(rig.server, `${kured.namespace}/${kured.name}`, seed)
  })

  afterAll(async () => {
    await stranger?.stop()
    await witness?.stop()
    await rig?.stop()
  })

  async function runningPods(): Promise<number> {
    const { items } = await rig.api.list(pods, { namespace: 'default' }, signal)
    return items.filter(({ status }) => status?.phase === 'Running').length
  }

  async function createKured(): Promise<void> {
    const labels = { app: 'kured' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'kured', image: 'kured:1' }] } }
    const { apiVersion, kind } = daemonSets
    const spec = { selector: { matchLabels: labels }, template }
    await rig.api.create(daemonSets, { apiVersion, kind, metadata: kured, spec }, signal)
    const lock = `kured=${kured.namespace}/${kured.name}`
    const { out } = await runSlipway(['install', '--print', '--namespace', namespace, '--lock', lock])
    await kubectl(rig.server, ['apply', '-f', '-'], out)
  }

  async function setPolicy(spec: Omit<MaintenancePolicySpec, 'paused'> & { paused?: boolean | null }): Promise<void> {
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
  }

  const update = (name: keyof typeof scripts, ...parts: string[]) =>
    rig.createUpdate(name, {
      script: { configMap: name, sha256: createHash('sha256').update(scripts[name]).digest('hex') },
      strategy: { maxUnavailable: '100%' },
      ...inParts(...parts),
    })

  const createProfile = async () => {
    const { apiVersion, kind } = nodeProfiles
    const spec = {
      ...inParts('p0', 'p3'),
      files: [{ path: '/etc/motd', content: 'hello\n' }],
      disruption: 'Drain' as const,
      strategy: { maxUnavailable: '100%' },
    }
    await rig.api.create(nodeProfiles, { apiVersion, kind, metadata: { name: 'motd' }, spec }, signal)
  }

  /** Every seventh host asks for a reboot by the first file, others by the second. */
  const askForReboots = async () => {
    const asking = rig.drafts.filter(({ controlPlane }, index) => !controlPlane && index % 7 < 2)
    for (const [index, { name }] of asking.entries())
      await rig.files(name).write(sentinels[index % 2] ?? '', '', asRoot)
    return asking.map(({ name }) => name)
  }

  const comeBack = (share: number) =>
    vi.waitFor(
      () => {
        const back = rig.observer.sights.filter(({ change }) => change === 'back').length
        if (back < share * size) throw new Error(`${back} nodes came back, not ${share * size}`)
      },
      { timeout: withinMs, interval: 50 },
    )

  /** A person stops everything; the stranger gets the lock; it goes on. */
  const stopForStranger = async () => {
    const before = stranger.reboots().length
    await setPolicy({ paused: true })
    await vi.waitFor(() => expect(stranger.reboots().length).toBeGreaterThan(before), { timeout: withinMs })
    await setPolicy({ paused: null })
  }

  /** The leader is frozen, its lease is somebody else's, then the other replica's; it wakes. */
  const freezeLeader = async () => {
    const { leader, standby } = await rig.leader()
    leader.process.freeze()
    const frozenMs = Date.now()
    await rig.stealLease()
    await vi.waitFor(async () => expect((await rig.leader()).leader).toBe(standby), { timeout: 90_000 })
    await wait(Math.max(0, frozenMs + leaseMs + 2_000 - Date.now()))
    const wokenMs = Date.now()
    leader.process.wake()
    await wait(5_000)
    expect((await rig.leader()).leader).toBe(standby)
    const untilMs = Date.now()
    return { leader, standby, frozenMs, wokenMs, untilMs }
  }

  const stopApiServer = async () => {
    const stoppedMs = Date.now()
    // Not killed: a write whose line in the audit log is lost looks like a node that stayed away.
    await rig.server.stopApi()
    await wait(outageMs)
    await rig.server.startApi()
    return (Date.now() - stoppedMs) / 1000
  }

  test('never pass the limit, whoever is frozen, robbed or cut off', { timeout: withinMs * 3 }, async () => {
    const startedMs = Date.now()
    const bootsBefore = bootIds()
    const rebooted = await askForReboots()
    await update('north', 'p0', 'p1', 'p2')
    await createProfile()
    await setPolicy({ reboots: { sentinels: [sentinels[0]] } })
    await update('south', 'p2', 'p3')

    await comeBack(random.between(0.05, 0.15))
    const frozen = await freezeLeader()
    await comeBack(random.between(0.25, 0.35))
    await setPolicy({ reboots: { sentinels: [...sentinels] } })
    await stopForStranger()
    await comeBack(random.between(0.45, 0.55))
    const outageSeconds = await stopApiServer()
    await comeBack(random.between(0.65, 0.75))
    await stopForStranger()

    for (const name of ['north', 'south']) expect((await rig.ended(name, withinMs)).status?.phase).toBe('Succeeded')
    await vi.waitFor(
      async () => {
        const { status } = await rig.api.get(nodeProfiles, { name: 'motd' }, signal)
        expect(status).toMatchObject({ phase: 'Applied', nodes: { failed: 0, drifted: 0 } })
        expect(changed(bootsBefore, bootIds())).toEqual(rebooted.toSorted())
        expect((await rig.policy()).status?.ledger?.grants).toEqual([])
        expect(rig.observer.cordoned()).toEqual([])
      },
      { timeout: withinMs, interval: 500 },
    )
    await stranger.stop()
    const watched = await witness.testify()
    const audited = await auditTestimony(rig.server, watched.since)
    const seconds = Math.round((Date.now() - startedMs) / 1000)
    const figures = {
      ...{ seed, nodes: size, writers, limit, zoneLimit, outageSeconds, seconds, requests: audited.requests },
      ...{ maximumByWatch: watched.most?.away ?? 0, maximumByAudit: audited.most?.away ?? 0 },
      ...{ timesAway: audited.changes / 2, hostReboots: rebooted.length, strangerReboots: stranger.reboots().length },
    }
    console.log(JSON.stringify({ ...figures, watched: watched.most, audited: audited.most }))

    for (const { most, zones, besideStranger, awayNow, nodes } of [watched, audited]) {
      expect(nodes).toBe(size)
      expect(most?.away).toBeLessThanOrEqual(limit)
      // All of it was really wanted at once.
      expect(most?.away).toBeGreaterThan(1)
      for (const { away } of Object.values(zones)) expect(away).toBeLessThanOrEqual(zoneLimit)
      expect(Object.keys(zones)).toHaveLength(4)
      // Under kured's lock one node goes, and that is the stranger's.
      expect(besideStranger?.away).toBe(1)
      expect(awayNow).toEqual([])
    }
    expect(watched.outages).toBeGreaterThan(0)

    // Each step of each update ran once, and each host that asked was booted once.
    expect(rig.ranSteps().filter(({ times }) => times !== 1)).toEqual([])
    const boots = rig.agents.flatMap(({ log }) => log.match(/the machine boots anew/g) ?? [])
    expect(boots).toHaveLength(rebooted.length)

    const writes = await auditedWrites(rig.server)
    const evicted = writes.filter(({ target, code }) => target.endsWith('/eviction') && code < 300)
    expect(evicted.length).toBeGreaterThan(size / 2)
    const by = ({ credentialId }: { readonly credentialId: string }) =>
      writes.filter((write) => write.credentialId === credentialId && !write.target.startsWith('leases/'))
    const { leader, standby, frozenMs, wokenMs, untilMs } = frozen
    expect(by(leader).filter(({ atMs }) => atMs < frozenMs)).not.toEqual([])
    expect(by(standby).filter(({ atMs }) => atMs > frozenMs && atMs < untilMs)).not.toEqual([])
    // What was on its way when it froze may still arrive, against a version that is gone; nothing of it is carried out.
    const sinceWoken = by(leader).filter(({ atMs }) => atMs >= wokenMs && atMs < untilMs)
    expect(sinceWoken.filter(({ code }) => code < 300)).toEqual([])
    const command = `make proof-apiserver NODES=${size} SEED=${seed}`
    if (isProof) keepResult('api-server', { date: today(), commit, command, ...figures })
  })

  function bootIds(): ReadonlyMap<string, string> {
    return new Map(rig.observer.nodes().map(({ metadata, status }) => [metadata.name, status?.nodeInfo?.bootID ?? '']))
  }
})

function changed(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...after].flatMap(([name, id]) => (before.get(name) === id ? [] : [name])).toSorted()
}
