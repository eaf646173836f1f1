import { expect } from 'vitest'
import { type NodeProfileSpec, nodeProfiles } from '../../src/api/node-profile.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const kubeletConfig = '/etc/kubelet.d/house.conf'
const root = { mode: 0o644, owner: 'root', group: 'root' }

const spec = (motd: string, more: Partial<NodeProfileSpec> = {}): NodeProfileSpec => ({
  files: [
    { path: kubeletConfig, content: 'ours\n', restarts: ['kubelet.service'] },
    { path: '/etc/motd', content: motd },
  ],
  drift: { action: 'Report' },
  ...more,
})

interface Restart {
  readonly node: string
  readonly drained: boolean
}

/** Gives the machines a systemd, and says of each restart whether its node was taken from work for it. */
function watchRestarts(cluster: StoryCluster): readonly Restart[] {
  const restarts: Restart[] = []
  for (const node of cluster.names) {
    cluster.machine(node).host.run = ({ argv }) => {
      if (argv[1] === 'restart') restarts.push({ node, drained: cluster.isCordoned(node) })
      const stdout = argv[1] === 'show' ? 'LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n' : ''
      return Promise.resolve({ exitCode: 0, stdout, stderr: '' })
    }
  }
  return restarts
}

async function applied({ cluster }: Story): Promise<void> {
  await cluster.until('it is applied', () => {
    const profile = cluster.sim.server.peek(nodeProfiles, { name: 'base' })
    const { generation } = profile?.metadata ?? {}
    return profile?.status?.phase === 'Applied' && profile.status.observedGeneration === generation
  })
  await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
}

/** Everything is as wanted; then another hand changes a file on w1 that the kubelet reads. */
async function driftsOnW1(story: Story, wanted: NodeProfileSpec): Promise<readonly Restart[]> {
  const { cluster, person } = story
  const restarts = watchRestarts(cluster)
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: wanted })
  await applied(story)
  await cluster.machine('w1').host.files.write(kubeletConfig, 'theirs\n', root)
  return restarts
}

async function changesTheGreeting(story: Story): Promise<void> {
  await story.person.changes(nodeProfiles, 'base', { spec: spec('another\n') })
  await applied(story)
}

scenario('what has drifted is put right by the next change only on a drained node', profileStory(3), async (story) => {
  const { cluster } = story
  const restarts = await driftsOnW1(story, spec('hello\n'))
  await cluster.until('it is told', () => cluster.state('w1')?.status?.agent?.profile?.drift !== undefined)
  const before = restarts.length
  await changesTheGreeting(story)
  expect(await cluster.machine('w1').host.files.read(kubeletConfig)).toBe('ours\n')
  // The others get the harmless change alone, and stay at work.
  expect(restarts.slice(before)).toEqual([{ node: 'w1', drained: true }])
  expect(cluster.taken).toEqual([])
})

scenario('also where nobody has told of the drift yet', profileStory(3), async (story) => {
  const restarts = await driftsOnW1(story, spec('hello\n'))
  const before = restarts.length
  await changesTheGreeting(story)
  expect(restarts.slice(before)).toEqual([{ node: 'w1', drained: true }])
  expect(story.cluster.state('w1')?.status?.failed).toBeUndefined()
})

scenario('a profile that never drains has its drift put right at work', profileStory(3), async (story) => {
  const restarts = await driftsOnW1(story, spec('hello\n', { disruption: 'None' }))
  const before = restarts.length
  await changesTheGreeting(story)
  expect(restarts.slice(before)).toEqual([{ node: 'w1', drained: false }])
})

scenario(
  'what drifts while a staged change waits for its slot is found before it runs',
  profileStory(3),
  async (story) => {
    const { cluster, person } = story
    const restarts = watchRestarts(cluster)
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: spec('hello\n') })
    await applied(story)
    const before = restarts.length
    await person.setsPolicy({ paused: true })
    await person.changes(nodeProfiles, 'base', { spec: spec('another\n') })
    await cluster.until('w1 has staged', () => cluster.state('w1')?.status?.agent?.order?.state === 'Staged')
    await cluster.machine('w1').host.files.write(kubeletConfig, 'theirs\n', root)
    await person.setsPolicy({ paused: false })
    await applied(story)
    expect(restarts.slice(before)).toEqual([{ node: 'w1', drained: true }])
    expect(cluster.state('w1')?.status?.failed).toBeUndefined()
  },
)
