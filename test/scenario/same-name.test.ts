// A DirectUpdate may be named as a profile is, or as the policy: neither steers the work of the other.

import { describe, expect } from 'vitest'
import { type NodeProfileSpec, nodeProfiles } from '../../src/api/node-profile.ts'
import { able, ask, finish, isLetIn } from './maintenance-story.ts'
import { profileStory } from './profile-story.ts'
import { type Story, type StoryOptions, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { scriptOf } from './story-update.ts'

const path = '/etc/motd'

async function rollsOut({ person }: Story, spec: NodeProfileSpec): Promise<void> {
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
}

const phaseOf = ({ sim }: StoryCluster) => sim.server.peek(nodeProfiles, { name: 'base' })?.status?.phase

describe('an update with the name of a profile', () => {
  const drain: NodeProfileSpec = { files: [{ path, content: 'hello\n' }], disruption: 'Drain' }

  scenario('that is paused keeps the profile from no node', profileStory(2), async (story) => {
    const { cluster, update } = story
    await update.script('true', { name: 'base', desiredState: 'Paused' }).is('Paused')
    await rollsOut(story, drain)
    await cluster.until('it is applied', () => phaseOf(cluster) === 'Applied')
  })

  scenario('whose script nobody has keeps the profile from no node', profileStory(2), async (story) => {
    const { cluster, update } = story
    const refused = update.of({ name: 'base', script: scriptOf('gone') })
    await cluster.until('it is seen', () => refused.status.observedGeneration !== undefined)
    await rollsOut(story, drain)
    await cluster.until('it is applied', () => phaseOf(cluster) === 'Applied')
  })

  const { driversOf, ...rest } = profileStory(2)
  const taken: StoryOptions = {
    ...rest,
    driversOf: (node, tools) =>
      (driversOf?.(node, tools) ?? []).map((driver) => ({
        ...driver,
        stage: async (staging, signal) =>
          staging.order.kind === 'NodeProfile'
            ? { code: 'PathTaken', message: `${path} is a folder` }
            : await driver.stage?.(staging, signal),
      })),
  }
  scenario('goes when it is deleted, though the profile waits for a person', taken, async (story) => {
    const { cluster, update } = story
    const done = await update.script('true', { name: 'base' }).succeeds()
    await rollsOut(story, drain)
    await cluster.nodeIs('w1', 'Failed', 'PathTaken')
    expect(cluster.taken).toEqual([])
    await (await done.isDeleted()).isGone()
    expect(cluster.state('w1')?.status?.rollout).toMatchObject({ phase: 'Failed', kind: 'NodeProfile' })
  })
})

scenario('a paused update with the name of the policy holds up no maintenance', able(2), async (story) => {
  const { cluster, person, update } = story
  await person.setsPolicy({ maintenance: {} })
  await update.script('true', { name: 'default', desiredState: 'Paused' }).is('Paused')
  await ask(cluster, 'w1')
  await isLetIn(cluster, 'w1')
  await finish(cluster, 'w1')
  await cluster.until('it is over', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
})
