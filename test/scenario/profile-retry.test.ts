import { expect } from 'vitest'
import { nodes } from '../../src/api/kube.ts'
import { type NodeProfileSpec, nodeProfiles } from '../../src/api/node-profile.ts'
import { releasingPatch } from '../../src/core/steering/hold-node.ts'
import { broken as notNow, ok, PretendWeb } from './pretend-web.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const calm: NodeProfileSpec = { files: [{ path: '/etc/chrony.conf', content: 'ours\n', restarts: ['chrony.service'] }] }
const drains: NodeProfileSpec = { ...calm, disruption: 'Drain' }

/** Gives the machines a systemd. Units do not start on those that are broken. */
function giveSystemd(cluster: StoryCluster): Set<string> {
  const broken = new Set<string>()
  for (const node of cluster.names) {
    cluster.machine(node).host.run = ({ argv }) => {
      const stdout = argv[1] === 'show' ? 'LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n' : ''
      const failed = argv[1] === 'restart' && broken.has(node)
      return Promise.resolve({ exitCode: failed ? 1 : 0, stdout, stderr: failed ? 'it does not start' : '' })
    }
  }
  return broken
}

async function failsOnW1({ cluster, person }: Story, spec: NodeProfileSpec): Promise<Set<string>> {
  const broken = giveSystemd(cluster)
  broken.add('w1')
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
  await cluster.nodeIs('w1', 'Failed')
  await cluster.until('it is told', () => phase(cluster) === 'Failed')
  return broken
}

function phase({ sim }: StoryCluster) {
  return sim.server.peek(nodeProfiles, { name: 'base' })?.status?.phase
}

/** As slipway retry --profile does. */
async function retries({ person }: Story, token: string, only?: readonly string[]): Promise<void> {
  await person.changes(nodeProfiles, 'base', { spec: { retry: { token, ...(only && { nodes: only }) } } })
}

/** As slipway release does. */
async function releases({ cluster, person }: Story, name: string): Promise<void> {
  const node = cluster.node(name)
  await person.changes(nodes, name, (node && releasingPatch(node, cluster.state(name))) ?? {})
}

async function ends({ cluster }: Story): Promise<void> {
  await cluster.until('it is applied', () => phase(cluster) === 'Applied')
  await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
  expect(cluster.taken).toEqual([])
}

scenario('a node on which a profile failed is tried again when a person says so', profileStory(3), async (story) => {
  const { cluster } = story
  const broken = await failsOnW1(story, calm)
  await cluster.pass(60_000)
  expect(cluster.state('w2')?.status?.agent?.profile).toBeUndefined()
  broken.clear()
  await retries(story, 'again')
  await ends(story)
})

scenario('drained nodes stay cordoned until they are tried again', profileStory(3), async (story) => {
  const { cluster } = story
  const broken = await failsOnW1(story, drains)
  expect(cluster.taken).toEqual(['w1'])
  await retries(story, 'again')
  await cluster.until('it failed again', () => {
    const rollout = cluster.state('w1')?.status?.rollout
    return rollout?.attempt === 2 && rollout.phase === 'Failed'
  })
  expect(cluster.isCordoned('w1')).toBe(true)
  broken.clear()
  await cluster.pass(60_000)
  expect(phase(cluster)).toBe('Failed')
  await retries(story, 'once more', ['w2'])
  await cluster.pass(60_000)
  expect(phase(cluster)).toBe('Failed')
  await retries(story, 'for w1', ['w1'])
  await ends(story)
})

const web = new PretendWeb()
scenario(
  'a node that a gate holds after all was applied has failed, too',
  { ...profileStory(3), web },
  async (story) => {
    const { cluster, person } = story
    giveSystemd(cluster)
    web.answers('shop.example', notNow)
    await person.setsPolicy({
      gates: [{ name: 'shop', type: 'Http', when: 'AfterNode', url: 'http://shop.example/', timeout: '1m' }],
    })
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: drains })
    await cluster.nodeIs('cp1', 'Failed', 'GateFailed')
    await cluster.until('it is told', () => phase(cluster) === 'Failed')
    await cluster.pass(60_000)
    expect(phase(cluster)).toBe('Failed')
    web.answers('shop.example', ok)
    await retries(story, 'again')
    await ends(story)
  },
)

scenario('release gives the slot of a failed node back that stayed at work', profileStory(3), async (story) => {
  const { cluster, update } = story
  const broken = await failsOnW1(story, calm)
  await cluster.pass(60_000)
  expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
  await releases(story, 'w1')
  await cluster.until('its slot is back', () => cluster.ledger.grants.length === 0)
  await cluster.pass(60_000)
  expect(cluster.ledger.grants).toEqual([])
  // That it failed stands, and nothing of the release is left on the node.
  expect(phase(cluster)).toBe('Failed')
  expect(Object.keys(cluster.node('w1')?.metadata.annotations ?? {}).filter((key) => /slipway/.test(key))).toEqual([])
  await update.script('true').succeeds()
  expect(phase(cluster)).toBe('Failed')
  broken.clear()
  await retries(story, 'again')
  await ends(story)
})

scenario('a node that comes and goes does not make a failure forgotten', profileStory(4), async (story) => {
  const { cluster, person } = story
  const broken = giveSystemd(cluster)
  broken.add('w2')
  const nodeSelector = { matchExpressions: [{ key: 'plain', operator: 'DoesNotExist' as const }] }
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: { ...calm, nodeSelector } })
  await cluster.nodeIs('w2', 'Failed')
  const isApplied = (name: string) => applied(cluster, name) !== undefined
  expect(isApplied('w1')).toBe(true)
  const before = applied(cluster, 'w1')
  // Taking it off w1 is another turn of the same roll-out, which w2 has stopped.
  await person.labels('w1', { plain: 'yes' })
  await cluster.pass(120_000)
  expect(applied(cluster, 'w1')).toBe(before)
  expect(isApplied('w3')).toBe(false)
  expect(cluster.state('w2')?.status?.rollout).toMatchObject({ phase: 'Failed', attempt: 1 })
  expect(phase(cluster)).toBe('Failed')
  broken.clear()
  await retries(story, 'again')
  await ends(story)
  await cluster.until('it is off w1', () => applied(cluster, 'w1') !== before)
  await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
})

function applied(cluster: StoryCluster, name: string): string | undefined {
  return cluster.state(name)?.status?.agent?.profile?.applied
}
