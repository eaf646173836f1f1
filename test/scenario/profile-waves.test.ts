import { describe, expect } from 'vitest'
import { type NodeProfileSpec, nodeProfiles } from '../../src/api/node-profile.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'

const path = '/etc/motd'
const waves = [{ size: 1, soak: '5m' }, { size: '100%' }]

async function withText({ cluster }: Story, text: string): Promise<readonly string[]> {
  const found = await Promise.all(
    cluster.names.map(async (name) => ((await cluster.machine(name).host.files.read(path)) === text ? [name] : [])),
  )
  return found.flat()
}

const profile = ({ cluster }: Story) => cluster.sim.server.peek(nodeProfiles, { name: 'base' })

describe('a profile with waves', () => {
  for (const disruption of ['None', 'Drain'] as const) {
    scenario(`tries one worker and looks at it before the others (${disruption})`, profileStory(5), async (story) => {
      const { cluster, person } = story
      const spec: NodeProfileSpec = { files: [{ path, content: 'hello\n' }], disruption, strategy: { waves } }
      await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
      await cluster.until(
        'the first wave is looked at',
        () => profile(story)?.status?.waves?.[0]?.soakUntil !== undefined,
      )
      expect(await withText(story, 'hello\n')).toEqual(['cp1', 'w1'])
      for (const process of cluster.sim.programs()) process.crash()
      await cluster.pass(200_000)
      expect(await withText(story, 'hello\n')).toEqual(['cp1', 'w1'])
      await cluster.until('it is applied', () => profile(story)?.status?.phase === 'Applied')
      expect(await withText(story, 'hello\n')).toEqual(cluster.names)
      await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
      expect(profile(story)?.status?.waves).toBeUndefined()
    })
  }
})

describe('a gate of the policy', () => {
  const dead = new PretendWeb()
  scenario('holds up its workers after the control plane', { ...profileStory(3), web: dead }, async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ gates: [{ type: 'Http', url: 'http://shop.example/', when: 'AfterWave' }] })
    const spec: NodeProfileSpec = { files: [{ path, content: 'hello\n' }], disruption: 'Drain' }
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
    await cluster.until('the control plane has it', () => cluster.state('cp1')?.status?.rollout?.phase === 'Done')
    await cluster.pass(600_000)
    expect(await withText(story, 'hello\n')).toEqual(['cp1'])
  })

  const sick = new PretendWeb()
  scenario('is asked no more once a policy without it is there', { ...profileStory(3), web: sick }, async (story) => {
    const { cluster, person } = story
    sick.answers('shop.example', broken)
    await person.deletesPolicy()
    await person.setsPolicy({ gates: [{ type: 'Http', url: 'http://shop.example/' }] })
    const spec: NodeProfileSpec = { files: [{ path, content: 'hello\n' }], disruption: 'Drain' }
    await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
    const applied = () => profile(story)?.status?.conditions?.find(({ type }) => type === 'Applied')
    await cluster.until('it waits for the gate', () => applied()?.reason?.startsWith('Gate') === true)
    // As `kubectl replace --force` does.
    await person.deletesPolicy()
    await person.setsPolicy({})
    await cluster.until('it is applied', () => profile(story)?.status?.phase === 'Applied')
    await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
  })

  for (const when of ['Soak', 'AfterWave'] as const) {
    const web = new PretendWeb()
    scenario(`holds up the waves of a profile, too: ${when}`, { ...profileStory(5), web }, async (story) => {
      const { cluster, person } = story
      web.answers('shop.example', ok)
      await person.setsPolicy({ gates: [{ name: 'shop', type: 'Http', url: 'http://shop.example/', when }] })
      const spec: NodeProfileSpec = {
        files: [{ path, content: 'hello\n' }],
        ...{ disruption: 'Drain', strategy: { waves } },
      }
      await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
      await cluster.until('the first worker has it', () => cluster.state('w1')?.status?.rollout?.phase === 'Done')
      web.answers('shop.example', broken)
      await cluster.pass(900_000)
      expect(await withText(story, 'hello\n')).toEqual(['cp1', 'w1'])
      const applied = () => profile(story)?.status?.conditions?.find(({ type }) => type === 'Applied')
      expect(applied()).toMatchObject({ reason: 'GateFailed', message: expect.stringContaining('answered 503') })
      web.answers('shop.example', ok)
      await cluster.until('it is applied', () => profile(story)?.status?.phase === 'Applied', 1_800_000)
      await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
    })
  }
})
