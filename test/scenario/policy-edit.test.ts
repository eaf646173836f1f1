import { describe, expect } from 'vitest'
import { type MaintenancePolicySpec, maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { broken, PretendWeb } from './pretend-web.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'

const only = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
const gates: MaintenancePolicySpec['gates'] = [
  { name: 'shop', type: 'Http', when: 'BeforeNode', url: 'http://shop.example/', timeout: '1h' },
]

describe('an edit of the policy', () => {
  scenario('lets a drain go on at once that hung by it', { nodes: 4 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    const held = update.script('true', { nodeSelector: only, drain: { timeout: '2m' } })
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await cluster.pass(310_000)
    expect(cluster.runs('w1')).toBe(0)
    await person.setsPolicy({ drain: { unmanagedPods: 'Delete' } })
    await cluster.until('w1 has its order', () => cluster.state('w1')?.spec.order?.desired === 'Run', 15_000)
    await held.succeeds()
  })

  const web = new PretendWeb()
  const closed = () => web.answers('shop.example', broken)

  scenario('that takes a gate out lets a profile go on', { ...profileStory(3), web }, async (story) => {
    const { cluster, person } = story
    closed()
    await person.setsPolicy({ gates })
    await createsProfile(story)
    await saysWhy(story, 'GateWaiting', /0 of 3 nodes are as it wants: gate shop: .*503/)
    expect(cluster.taken).toEqual([])
    await person.setsPolicy({ gates: [] })
    await cluster.until('it is applied', () => profileOf(story)?.status?.phase === 'Applied')
    await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
  })

  scenario('that puts a gate in holds a profile that waits', { ...profileStory(3), web }, async (story) => {
    const { cluster, person } = story
    closed()
    await person.setsPolicy({ paused: true })
    await createsProfile(story)
    await saysWhy(story, 'PolicyPaused', /MaintenancePolicy.default is paused/)
    await person.changes(maintenancePolicies, 'default', { spec: { gates } })
    await cluster.pass(60_000)
    await person.changes(maintenancePolicies, 'default', { spec: { paused: false } })
    await saysWhy(story, 'GateWaiting', /gate shop/)
    await cluster.pass(60_000)
    expect(cluster.ledger.grants).toEqual([])
    expect(cluster.names.filter((name) => cluster.state(name)?.status?.rollout)).toEqual([])
  })
})

async function createsProfile({ person }: Story): Promise<void> {
  const spec = { files: [{ path: '/etc/motd', content: 'hello\n' }], disruption: 'Drain' as const }
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
}

async function saysWhy(story: Story, code: string, message: RegExp): Promise<void> {
  const applied = () => profileOf(story)?.status?.conditions?.find(({ type }) => type === 'Applied')
  await story.cluster.until(`it says ${code}`, () => applied()?.reason === code)
  expect(applied()?.message).toMatch(message)
}

function profileOf({ cluster }: Story) {
  return cluster.sim.server.peek(nodeProfiles, { name: 'base' })
}
