import { expect } from 'vitest'
import { configMaps, secrets } from '../../src/api/kube.ts'
import { type NodeProfile, type NodeProfileSpec, nodeProfiles, type ProfilePhase } from '../../src/api/node-profile.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const path = '/etc/motd'
const motd = (content: string, more: Partial<NodeProfileSpec> = {}): NodeProfileSpec => ({
  files: [{ path, content }],
  ...more,
})

const creates = ({ person }: Story, name: string, spec: NodeProfileSpec) =>
  person.creates(nodeProfiles, { metadata: { name }, spec })

function profile({ sim }: StoryCluster, name: string): NodeProfile | undefined {
  return sim.server.peek(nodeProfiles, { name })
}

async function becomes(cluster: StoryCluster, name: string, phase: ProfilePhase): Promise<NodeProfile> {
  const stand = () => {
    const found = profile(cluster, name)
    return found?.status?.observedGeneration === found?.metadata.generation ? found?.status?.phase : undefined
  }
  await cluster
    .until(`profile ${name} is ${phase}`, () => stand() === phase)
    .catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(profile(cluster, name)?.status)}`)
    })
  await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
  const found = profile(cluster, name)
  if (!found) throw new Error(`${name} is gone`)
  return found
}

async function hasNothing(cluster: StoryCluster, node: string): Promise<void> {
  await cluster.until(`${node} has nothing of it`, () => cluster.state(node)?.status?.agent?.profile === undefined)
  await cluster.until('its slot is back', () => cluster.ledger.grants.length === 0)
}

async function texts(cluster: StoryCluster): Promise<readonly (string | undefined)[]> {
  return await Promise.all(cluster.names.map((name) => cluster.machine(name).host.files.read(path)))
}

scenario('a profile that disturbs nobody is rolled out without a cordon', profileStory(3), async (story) => {
  const { cluster } = story
  let cordons = 0
  cluster.sim.server.onCommit(() => {
    cordons += cluster.taken.length
  })
  await creates(story, 'base', motd('hello\n'))
  const { status } = await becomes(cluster, 'base', 'Applied')
  expect(await texts(cluster)).toEqual(['hello\n', 'hello\n', 'hello\n'])
  expect(status?.nodes).toEqual({ total: 3, applied: 3, drifted: 0, failed: 0 })
  expect(cordons).toBe(0)
  await story.person.changes(nodeProfiles, 'base', { spec: motd('hello again\n') })
  await becomes(cluster, 'base', 'Applied')
  expect(await texts(cluster)).toEqual(['hello again\n', 'hello again\n', 'hello again\n'])
})

scenario('one that needs a drain takes its nodes one after another', profileStory(3), async (story) => {
  const { cluster } = story
  let most = 0
  const cordoned = new Set<string>()
  cluster.sim.server.onCommit(() => {
    most = Math.max(most, cluster.taken.length)
    for (const name of cluster.taken) cordoned.add(name)
  })
  await creates(story, 'base', motd('hello\n', { disruption: 'Drain' }))
  await becomes(cluster, 'base', 'Applied')
  await cluster.pass(10_000)
  expect(most).toBe(1)
  expect(cordoned.size).toBe(3)
  expect(cluster.taken).toEqual([])
  expect(cluster.ledger.grants).toEqual([])
})

scenario(
  'a deleted profile goes when its hosts are as before, and leaves nothing behind',
  profileStory(3),
  async (story) => {
    const { cluster, person } = story
    await creates(story, 'base', motd('hello\n'))
    await becomes(cluster, 'base', 'Applied')
    await person.deletes(nodeProfiles, { name: 'base' })
    await cluster.until('the profile is gone', () => profile(cluster, 'base') === undefined)
    expect(await texts(cluster)).toEqual([undefined, undefined, undefined])
    await cluster.pass(120_000)
    expect(cluster.names.map((name) => cluster.state(name)?.spec.drift)).toEqual([undefined, undefined, undefined])
    expect(cluster.names.map((name) => cluster.state(name)?.status?.agent?.profile)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  },
)

scenario(
  'a host that cannot be reached does not hold it, and is put right when it is back',
  profileStory(3),
  async (story) => {
    const { cluster, person } = story
    await creates(story, 'base', motd('hello\n'))
    await becomes(cluster, 'base', 'Applied')
    cluster.machine('w2').losePower()
    await cluster.until(
      'w2 is away',
      () => cluster.node('w2')?.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True',
    )
    await person.deletes(nodeProfiles, { name: 'base' })
    await cluster.until('the profile is gone', () => profile(cluster, 'base') === undefined)
    cluster.machine('w2').powerOn()
    await hasNothing(cluster, 'w2')
    expect(await texts(cluster)).toEqual([undefined, undefined, undefined])
  },
)

scenario(
  'two of the same priority that disagree are refused, and nothing is touched',
  profileStory(2),
  async (story) => {
    const { cluster, person } = story
    await creates(story, 'one', motd('one\n'))
    await becomes(cluster, 'one', 'Applied')
    await creates(story, 'two', motd('two\n'))
    const refused = await becomes(cluster, 'two', 'Refused')
    await becomes(cluster, 'one', 'Refused')
    const accepted = refused.status?.conditions?.find(({ type }) => type === 'Accepted')
    expect(accepted).toMatchObject({ status: 'False', reason: 'ProfileConflict' })
    expect(accepted?.message).toMatch(/one and two.*file \/etc\/motd/)
    expect(await texts(cluster)).toEqual(['one\n', 'one\n'])
    await person.changes(nodeProfiles, 'two', { spec: { priority: 1 } })
    await becomes(cluster, 'two', 'Applied')
    expect(await texts(cluster)).toEqual(['two\n', 'two\n'])
  },
)

scenario('a host that is not selected any more gives back what it had', profileStory(3), async (story) => {
  const { cluster, person } = story
  for (const name of ['w1', 'w2']) await person.labels(name, { pool: 'a' })
  await creates(story, 'base', motd('hello\n', { nodeSelector: { matchLabels: { pool: 'a' } } }))
  await cluster.until('both have it', () => profile(cluster, 'base')?.status?.nodes?.applied === 2)
  expect((await texts(cluster)).filter((text) => text !== undefined)).toHaveLength(2)
  await person.labels('w1', { pool: 'b' })
  await hasNothing(cluster, 'w1')
  expect((await texts(cluster)).filter((text) => text !== undefined)).toHaveLength(1)
  expect(profile(cluster, 'base')?.status?.nodes).toMatchObject({ total: 1, applied: 1 })
})

scenario('a secret reaches the hosts, and stands nowhere in clear', profileStory(2), async (story) => {
  const { cluster, person } = story
  const metadata = { name: 'token', namespace: operatorNamespace }
  const data = (text: string) => ({ data: { value: Buffer.from(text).toString('base64') } })
  const spec = { files: [{ path, secret: { name: 'token', key: 'value' } }] }
  await creates(story, 'base', spec)
  const refused = await becomes(cluster, 'base', 'Refused')
  expect(JSON.stringify(refused.status)).toContain('needs Secret token with key value')
  await person.creates(secrets, { metadata, ...data('swordfish') })
  await becomes(cluster, 'base', 'Applied')
  expect(await texts(cluster)).toEqual(['swordfish', 'swordfish'])
  const { server } = cluster.sim
  const public_ = JSON.stringify([server.peekAll(configMaps), server.peekAll(nodeStates), server.peekAll(nodeProfiles)])
  expect(public_).not.toContain('swordfish')
  const before = cluster.state('w1')?.spec.drift?.desired.sha256
  await cluster.pass(300_000)
  expect(cluster.state('w1')?.spec.drift?.desired.sha256).toBe(before)
})

scenario('a secret that is no text is refused, and no host is touched', profileStory(2), async (story) => {
  const { cluster, person } = story
  const metadata = { name: 'token', namespace: operatorNamespace }
  const bytes = Buffer.from([0xff, 0xfe, 0x00])
  await person.creates(secrets, { metadata, data: { value: bytes.toString('base64') } })
  await creates(story, 'base', { files: [{ path, secret: { name: 'token', key: 'value' } }] })
  const refused = await becomes(cluster, 'base', 'Refused')
  const accepted = refused.status?.conditions?.find(({ type }) => type === 'Accepted')
  expect(accepted).toMatchObject({ status: 'False', reason: 'ProfileSourceBinary' })
  expect(accepted?.message).toContain('key value of Secret token')
  expect(await texts(cluster)).toEqual([undefined, undefined])
  await person.deletes(secrets, metadata)
  const marked = Buffer.from('\ufeffswordfish')
  await person.creates(secrets, { metadata, data: { value: marked.toString('base64') } })
  await becomes(cluster, 'base', 'Applied')
  expect(await texts(cluster)).toEqual(['\ufeffswordfish', '\ufeffswordfish'])
})

scenario('with rollout ByUpdate it waits for an update that names it', profileStory(2), async (story) => {
  const { cluster, update } = story
  await creates(story, 'base', motd('hello\n', { rollout: 'ByUpdate' }))
  const waiting = await becomes(cluster, 'base', 'Waiting')
  expect(waiting.status?.conditions?.find(({ type }) => type === 'Applied')?.reason).toBe('WaitingForUpdate')
  await cluster.pass(60_000)
  expect(await texts(cluster)).toEqual([undefined, undefined])
  await update.of({ profile: 'base' }).succeeds()
  expect(await texts(cluster)).toEqual(['hello\n', 'hello\n'])
  await becomes(cluster, 'base', 'Applied')
})

scenario('an update that contradicts a profile is blocked, naming both', profileStory(2), async (story) => {
  const { cluster, update } = story
  await creates(story, 'pins', { packages: [{ name: 'kubelet', version: '1.35.*' }], rollout: 'ByUpdate' })
  await becomes(cluster, 'pins', 'Waiting')
  const blocked = await update.kubernetes('v1.36.3').is('Pending', 'ProfileContradicted')
  expect(blocked.condition('Planned')).toMatchObject({ reason: 'ProfileContradicted' })
  expect(blocked.condition('Planned')?.message).toMatch(/DirectUpdate update .*NodeProfile pins/)
  await cluster.pass(30_000)
  expect(cluster.taken).toEqual([])
  await story.person.deletes(nodeProfiles, { name: 'pins' })
  await blocked.succeeds()
})

scenario('a profile that contradicts an update that runs waits until that is over', profileStory(2), async (story) => {
  const { cluster, update } = story
  const running = await update.kubernetes('v1.36.3').is('InProgress')
  await cluster.until('a node is under work', () => cluster.taken.length > 0)
  await creates(story, 'pins', { packages: [{ name: 'kubelet', version: '1.35.*' }] })
  const applied = () => profile(cluster, 'pins')?.status?.conditions?.find(({ type }) => type === 'Applied')
  await cluster.until('it says what it waits for', () => applied()?.reason === 'ProfileContradicted')
  expect(applied()?.message).toMatch(/DirectUpdate update brings kubelet to v1\.36\.3, but NodeProfile pins pins/)
  await running.succeeds()
  await cluster.until('then it goes on', () => applied()?.reason !== 'ProfileContradicted')
})
