import { describe, expect } from 'vitest'
import { type NodeProfileSpec, nodeProfiles } from '../../src/api/node-profile.ts'
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
