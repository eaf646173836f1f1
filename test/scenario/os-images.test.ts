import { describe, expect, it } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalWork } from '../../src/agent/drivers/rehearsal-work.ts'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { secrets } from '../../src/api/kube.ts'
import { updateSchedules } from '../../src/api/schedule.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import type { Crash } from './crash-point.ts'
import { PretendRegistry } from './pretend-registry.ts'
import { play, type Story, type StoryOptions, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { oneAnd } from './story-nodes.ts'

const os = 'registry.example/os'
const away = new SlipwayError('CannotReach', 'https://registry.example/v2/os/manifests/1.0 fails: connection refused')

/** Machines that boot from images. */
function imageHosts(workers: number, part: Partial<NodeSpec> = {}): readonly NodeSpec[] {
  return oneAnd(workers).map((node) => ({ ...node, facts: { imageManager: 'bootc' as const }, ...part }))
}

function options(registry: PretendRegistry, more: Partial<StoryOptions> = {}): StoryOptions {
  return { nodes: imageHosts(2), registry, driversOf: () => [...rehearsalDrivers, ...rehearsalWork], ...more }
}

const shown = (cluster: StoryCluster, node: string) => cluster.state(node)?.status?.agent?.facts.osImage
const booted = (cluster: StoryCluster) => ['cp1', 'w1', 'w2'].map((node) => shown(cluster, node)?.digest)
/** What hosts were told to boot. */
const told = ({ sim }: StoryCluster) => [
  ...new Set(
    [...sim.machines.values()]
      .flatMap(({ host }) => host.executions)
      .filter(({ step }) => step === 'boot-image')
      .map(({ argv }) => argv[2]),
  ),
]
const boots = ({ sim }: StoryCluster) =>
  [...sim.machines.values()].flatMap(({ host }) => host.executions).filter(({ step }) => step === 'boot-image').length

describe('an OS image', () => {
  const plain = new PretendRegistry()
  scenario('is looked up once, and every host gets that digest', options(plain), async ({ cluster, update }) => {
    const digest = plain.push(`${os}:1.0`, 'one')
    const running = update.of({ os: { image: `${os}:1.0` } })
    await running.succeeds()
    expect(running.status.osImage).toMatchObject({
      image: `${os}:1.0`,
      reference: `${os}:1.0`,
      digest,
      instances: [{ architecture: 'amd64', digest }],
    })
    expect(told(cluster)).toEqual([`${os}@${digest}`])
    expect(booted(cluster)).toEqual([digest, digest, digest])
    expect(plain.asked).toHaveLength(1)
  })

  const signed = new PretendRegistry()
  scenario('that must be signed comes with where its signatures lie', options(signed), async ({ cluster, update }) => {
    const digest = signed.push(`${os}:1.0`, 'one', ['amd64', 'arm64'])
    const [ofList, ofInstance] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`]
    const artifactType = 'application/vnd.dev.sigstore.bundle.v0.3+json'
    const instance = (await signed.look(`${os}:1.0`, {})).platforms[0]?.digest ?? ''
    signed.refer(digest, { digest: ofList, artifactType }, { digest: instance, artifactType: 'application/spdx+json' })
    signed.refer(instance, { digest: ofInstance, artifactType })
    const running = update.of({ os: { image: `${os}:1.0`, verify: { key: 'PEM' } } })
    await running.succeeds()
    expect(running.status.osImage?.signatures).toEqual([ofList, ofInstance])
    expect(cluster.state('w1')?.spec.order?.work.os).toEqual({
      image: `${os}@${digest}`,
      verify: { key: 'PEM', signatures: [ofList, ofInstance] },
    })
  })

  const moving = new PretendRegistry()
  scenario('whose tag moves on the way is the same for every host', options(moving), async ({ cluster, update }) => {
    const digest = moving.push(`${os}:stable`, 'one')
    const running = update.of({ os: { image: `${os}:stable` } })
    await cluster.until('the first host works', () => boots(cluster) === 1)
    moving.push(`${os}:stable`, 'two')
    await running.succeeds()
    expect(booted(cluster)).toEqual([digest, digest, digest])
    expect(told(cluster)).toEqual([`${os}@${digest}`])
  })

  it('is one for all, whenever the operator dies and wherever the tag moves to', async () => {
    const restless = (crash?: Crash, seed = 1) => {
      const registry = new PretendRegistry()
      registry.push(`${os}:stable`, 'image 0')
      registry.afterLook = (looks) => registry.push(`${os}:stable`, `image ${looks}`)
      return options(registry, { seed, ...(crash && { crash }) })
    }
    const oneForAll = async ({ cluster, update }: Story) => {
      const recorded = new Set<string>()
      cluster.sim.server.onCommit(() => {
        for (const { status } of cluster.sim.server.peekAll(directUpdates)) {
          if (status?.osImage) recorded.add(status.osImage.digest)
        }
      })
      const running = await update.of({ os: { image: `${os}:stable` } }).succeeds()
      const digest = running.status.osImage?.digest
      expect([...recorded]).toEqual([digest])
      expect(told(cluster)).toEqual([`${os}@${digest}`])
      expect(booted(cluster)).toEqual([digest, digest, digest])
    }
    await play(restless(), oneForAll)
    // The first order of a host, which must not be on its way before the image is on record.
    for (let seed = 1; seed <= 8; seed++) {
      await play(restless({ victim: 'operator', after: 'patch NodeState' }, seed), oneForAll)
    }
    // Its finalizer, its plan, and what follows.
    for (let nth = 1; nth <= 5; nth++) {
      await play(restless({ victim: 'operator', before: 'patch DirectUpdate', nth }), oneForAll)
      await play(restless({ victim: 'operator', after: 'patch DirectUpdate', nth }), oneForAll)
    }
  })

  const patient = new PretendRegistry()
  scenario(
    'is not asked for while nothing could be done with it, and then once',
    options(patient, { nodes: imageHosts(2, { facts: { imageManager: 'bootc', freeGiB: 0 } }) }),
    async ({ cluster, update }) => {
      patient.push(`${os}:stable`, 'one')
      const running = await update.of({ os: { image: `${os}:stable` } }).is('Pending', 'PreflightFailed')
      const digest = patient.push(`${os}:stable`, 'two')
      await cluster.pass(120_000)
      expect(patient.asked).toEqual([])
      await running.isEdited({ preflight: { skip: ['DiskSpace'] } })
      await running.succeeds()
      expect(patient.asked).toHaveLength(1)
      expect(told(cluster)).toEqual([`${os}@${digest}`])
    },
  )

  const hosts = new PretendRegistry()
  scenario('is left to the hosts where the update says so', options(hosts), async ({ cluster, update }) => {
    hosts.failure = away
    const running = update.of({ os: { image: `${os}:1.0`, resolve: 'Host' } })
    await running.succeeds()
    expect(told(cluster)).toEqual([`${os}:1.0`])
    expect(running.status.osImage).toBeUndefined()
    expect(hosts.asked).toEqual([])
  })

  const bundled = new PretendRegistry()
  scenario('is not asked of a registry where all comes from a bundle', options(bundled), async ({ update }) => {
    const bundle = { url: '/var/bundle.tar', sha256: 'ab'.repeat(32) }
    const running = update.of({ os: { image: `${os}:1.0` }, airGapped: { bundle } })
    await running.is('Failed', 'ImageUnknown')
    expect(bundled.asked).toEqual([])
  })
})

describe('a registry', () => {
  const late = new PretendRegistry()
  scenario('that is away is asked again, and nothing is touched meanwhile', options(late), async (story) => {
    const { cluster, update } = story
    const digest = late.push(`${os}:1.0`, 'one')
    late.failure = away
    const running = update.of({ os: { image: `${os}:1.0` } })
    await cluster.until('it waits', () => running.condition('Planned')?.reason === 'RegistryUnreachable')
    await cluster.pass(60_000)
    expect(running.status.phase).toBe('Pending')
    expect(late.asked.length).toBeGreaterThanOrEqual(3)
    expect(late.asked.length).toBeLessThanOrEqual(6)
    expect(boots(cluster)).toBe(0)
    late.failure = undefined
    await running.succeeds()
    expect(booted(cluster)).toEqual([digest, digest, digest])
  })

  const busy = new PretendRegistry()
  scenario('that was asked too often is left alone as long as it wants', options(busy), async ({ cluster, update }) => {
    busy.push(`${os}:1.0`, 'one')
    busy.failure = new SlipwayError('CannotReach', 'it answers 429', { retryAfterMs: 300_000 })
    const running = update.of({ os: { image: `${os}:1.0` } })
    await cluster.until('it waits', () => running.condition('Planned')?.reason === 'RegistryUnreachable')
    await cluster.pass(240_000)
    expect(busy.asked).toHaveLength(1)
    busy.failure = undefined
    await running.succeeds()
  })

  const without = new PretendRegistry()
  scenario('without such a tag ends it', options(without), async ({ cluster, update }) => {
    const running = update.of({ os: { image: `${os}:9.9` } })
    await running.is('Failed', 'RegistryRefused')
    expect(running.status.phase).toBe('Failed')
    expect(boots(cluster)).toBe(0)
  })

  const closed = new PretendRegistry()
  scenario('is shown the credentials of the policy', options(closed), async ({ person, update, cluster }) => {
    closed.push(`${os}:1.0`, 'one')
    closed.password = 'pass'
    await person.setsPolicy({ registries: [{ host: 'registry.example', secret: 'pull' }] })
    await cluster.pass(1_000)
    const running = update.of({ os: { image: `${os}:1.0` } })
    await cluster.until('it waits', () => running.condition('Planned')?.reason === 'RegistrySecretMissing')
    const data = { username: btoa('reader'), password: btoa('pass') }
    await person.creates(secrets, { metadata: { name: 'pull', namespace: operatorNamespace }, data })
    await running.succeeds()
    expect(JSON.stringify(cluster.sim.server.peekAll(directUpdates))).not.toContain('"pass"')
  })

  const arm = new PretendRegistry()
  scenario(
    'whose image is for other machines ends it',
    options(arm, {
      nodes: imageHosts(2).map((node) =>
        node.name === 'w2' ? { ...node, facts: { imageManager: 'bootc', architecture: 'arm64' } } : node,
      ),
    }),
    async ({ update, cluster }) => {
      arm.push(`${os}:1.0`, 'one')
      const running = update.of({ os: { image: `${os}:1.0` } })
      await running.is('Failed', 'ImagePlatformMissing')
      expect(running.condition('Planned')?.message).toContain('w2 needs arm64')
      arm.push(`${os}:1.1`, 'two', ['amd64', 'arm64'])
      await update.of({ name: 'second', os: { image: `${os}:1.1` } }).succeeds()
      expect(boots(cluster)).toBe(3)
    },
  )
})

describe('a tag with a pattern', () => {
  const several = new PretendRegistry()
  scenario('is the newest that matches', options(several), async ({ update, cluster }) => {
    for (const tag of ['1.2', '1.9', '2.0']) several.push(`${os}:${tag}`, tag)
    const digest = several.push(`${os}:1.10`, 'ten')
    const running = update.of({ os: { image: `${os}:1.*` } })
    await running.succeeds()
    expect(running.status.osImage).toMatchObject({ image: `${os}:1.*`, reference: `${os}:1.10`, digest })
    expect(booted(cluster)).toEqual([digest, digest, digest])
  })

  const none = new PretendRegistry()
  scenario('that nothing matches ends it', options(none), async ({ update }) => {
    none.push(`${os}:1.0`, 'one')
    const running = update.of({ os: { image: `${os}:2.*` } })
    await running.is('Failed', 'ImageUnknown')
    expect(running.condition('Planned')?.message).toContain('no tag of registry.example/os matches 2.*')
  })

  const nightly = new PretendRegistry()
  const minute = 60_000
  scenario('in a schedule brings what is new, and touches nothing otherwise', options(nightly), async (story) => {
    const { cluster, person } = story
    const one = nightly.push(`${os}:2026-01-01`, 'one', ['amd64', 'arm64'])
    const spec = { cron: '0 3 * * *', template: { spec: { os: { image: `${os}:2026-*` } } } }
    await person.creates(updateSchedules, { metadata: { name: 'nightly' }, spec })
    const made = () => cluster.sim.server.peekAll(directUpdates) as readonly DirectUpdate[]
    const ended = (count: number) => made().filter(({ status }) => status?.phase === 'Succeeded').length === count
    await cluster.until('the first night', () => ended(1), 48 * 60 * minute)
    expect(booted(cluster)).toEqual([one, one, one])
    expect(boots(cluster)).toBe(3)

    await cluster.until('the second night', () => ended(2), 48 * 60 * minute)
    expect(boots(cluster)).toBe(3)
    const second = made().find(({ status }) => status?.summary?.skipped === 3)
    const said = second?.status?.conditions?.find(({ type }) => type === 'Succeeded')?.message
    expect(said).toContain(`have ${os}:2026-01-01 already`)
    expect(said).toContain('nothing was touched')

    const two = nightly.push(`${os}:2026-01-10`, 'two')
    await cluster.until('the third night', () => ended(3), 48 * 60 * minute)
    expect(booted(cluster)).toEqual([two, two, two])
    expect(boots(cluster)).toBe(6)
  })
})

describe('Kubernetes and the OS image', () => {
  const both = new PretendRegistry()
  scenario('go together: one drain a node, the control plane first', options(both), async ({ cluster, update }) => {
    const digest = both.push(`${os}:1.36`, 'both')
    const running = update.of({ kubernetes: { version: 'v1.36.3' }, os: { image: `${os}:1.36` } })
    await running.succeeds()
    expect(booted(cluster)).toEqual([digest, digest, digest])
    for (const { host } of cluster.sim.machines.values()) {
      const steps = host.executions.map(({ step }) => step)
      expect(steps.at(-1)).toBe('boot-image')
      expect(steps.indexOf('boot-image')).toBeGreaterThan(steps.indexOf('upgrade-kubelet'))
      expect(new Set(host.executions.map(({ order }) => order)).size).toBe(1)
    }
  })

  const far = new PretendRegistry()
  scenario('do not go over several minor versions with one image', options(far), async ({ cluster, update }) => {
    far.push(`${os}:1.37`, 'far')
    const running = update.of({ kubernetes: { version: 'v1.37.0' }, os: { image: `${os}:1.37` } })
    await running.is('Pending', 'VersionSkipsMinor')
    expect(running.condition('Planned')?.message).toContain('an OS image')
    expect(boots(cluster)).toBe(0)
    expect(far.asked).toEqual([])
  })

  const onlyOs = new PretendRegistry()
  scenario('may each go alone', options(onlyOs), async ({ cluster, update }) => {
    onlyOs.push(`${os}:1.0`, 'one')
    await update.of({ name: 'os', os: { image: `${os}:1.0` } }).succeeds()
    expect([...cluster.sim.machines.values()].map(({ host }) => host.installed?.kubelet)).toEqual([
      'v1.35.4',
      'v1.35.4',
      'v1.35.4',
    ])
    const before = boots(cluster)
    await update.kubernetes('v1.36.3', { name: 'kubernetes' }).succeeds()
    expect(boots(cluster)).toBe(before)
  })
})
