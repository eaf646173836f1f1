import { expect } from 'vitest'
import { type Node, nodes } from '../../src/api/kube.ts'
import { type NodeProfileSpec, nodeProfiles } from '../../src/api/node-profile.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const path = '/etc/cni/tuning.conf'
const saying = (content: string): NodeProfileSpec => ({ files: [{ path, content }], disruption: 'Drain' })
const profile = ({ sim }: StoryCluster) => sim.server.peek(nodeProfiles, { name: 'tuned' })

async function isApplied({ cluster }: Story): Promise<void> {
  await cluster.until('it is applied', () => profile(cluster)?.status?.phase === 'Applied')
  await cluster.until('nobody is away', () => cluster.ledger.grants.length === 0)
}

function contents({ cluster }: Story): Promise<readonly (string | undefined)[]> {
  return Promise.all(cluster.names.map((node) => cluster.machine(node).host.files.read(path)))
}

const asked = new PretendWeb()
scenario(
  'a profile that is edited back brings back every node, also one that had it before and was not done',
  { ...profileStory(4), web: asked },
  async (story) => {
    const { cluster, person } = story
    asked.answers('shop.example', broken)
    await person.setsPolicy({
      gates: [{ type: 'Http', when: 'AfterNode', url: 'http://shop.example/', timeout: '1h' }],
    })
    await person.creates(nodeProfiles, { metadata: { name: 'tuned' }, spec: saying('one\n') })
    await cluster.until(
      'cp1 has it and waits for the gate',
      () => cluster.state('cp1')?.status?.agent?.profile?.applied !== undefined,
    )
    await person.changes(nodeProfiles, 'tuned', { spec: saying('two\n') })
    asked.answers('shop.example', ok)
    await isApplied(story)
    expect(new Set(await contents(story))).toEqual(new Set(['two\n']))
    await person.changes(nodeProfiles, 'tuned', { spec: saying('one\n') })
    await cluster.until('it is seen', () => profile(cluster)?.status?.observedGeneration === 3)
    await isApplied(story)
    expect(new Set(await contents(story))).toEqual(new Set(['one\n']))
  },
)

scenario('nodes that are still to come keep the operation there is', profileStory(4), async (story) => {
  const { cluster, person } = story
  await person.creates(nodeProfiles, { metadata: { name: 'tuned' }, spec: saying('one\n') })
  // Two of them have had it once, and two have not.
  await cluster.nodeIs('w1', 'Done')
  await person.changes(nodeProfiles, 'tuned', { spec: saying('two\n') })
  await isApplied(story)
  const ids = new Set<string>()
  cluster.sim.server.onCommit(({ kind, after }) => {
    const told =
      kind === nodeProfiles.kind ? (after as { status?: { operationID?: string } }).status?.operationID : undefined
    if (told !== undefined) ids.add(told)
  })
  await person.changes(nodeProfiles, 'tuned', { spec: saying('one\n') })
  await cluster.until('it is seen', () => profile(cluster)?.status?.observedGeneration === 3)
  await isApplied(story)
  expect(new Set(await contents(story))).toEqual(new Set(['one\n']))
  expect([...ids].filter((id) => id.endsWith('-1') || id.endsWith('-2'))).toHaveLength(1)
})

scenario('what a profile says takes a drain takes one to be without it, too', profileStory(3), async (story) => {
  const { cluster, person } = story
  await person.creates(nodeProfiles, { metadata: { name: 'tuned' }, spec: saying('one\n') })
  await isApplied(story)
  const drained = new Set<string>()
  cluster.sim.server.onCommit(({ kind, after }) => {
    if (kind === nodes.kind && (after as Node | undefined)?.spec.unschedulable) drained.add(after?.metadata.name ?? '')
  })
  await person.deletes(nodeProfiles, { name: 'tuned' })
  await cluster.until('it is gone', () => profile(cluster) === undefined)
  expect(new Set(await contents(story))).toEqual(new Set([undefined]))
  expect(drained).toEqual(new Set(cluster.names))
})

const guard = new PretendWeb()
scenario(
  'a removal that a gate holds at a node says so, and can be tried again',
  { ...profileStory(3), web: guard },
  async (story) => {
    const { cluster, person } = story
    guard.answers('shop.example', ok)
    await person.setsPolicy({
      gates: [{ type: 'Http', when: 'AfterNode', url: 'http://shop.example/', timeout: '1m' }],
    })
    await person.creates(nodeProfiles, { metadata: { name: 'tuned' }, spec: saying('one\n') })
    await isApplied(story)
    guard.answers('shop.example', broken)
    await person.deletes(nodeProfiles, { name: 'tuned' })
    await cluster.nodeIs('cp1', 'Failed', 'GateFailed')
    await cluster.until('it is told', () => profile(cluster)?.status?.nodes?.failed === 1)
    const stalled = profile(cluster)?.status?.conditions?.find(({ type }) => type === 'Stalled')
    expect(stalled).toMatchObject({ status: 'True', reason: 'GateFailed' })
    expect(profile(cluster)?.status?.phase).toBe('Removing')
    guard.answers('shop.example', ok)
    await person.changes(nodeProfiles, 'tuned', { spec: { retry: { token: 'again' } } })
    await cluster.until('it is gone', () => profile(cluster) === undefined)
    await cluster.until('nobody is away', () => cluster.ledger.grants.length === 0)
    expect(cluster.taken).toEqual([])
  },
)
