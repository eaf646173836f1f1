// A step fails after a profile was applied: what the update's rollback says is undone on the host, and the node stays out.

import { expect } from 'vitest'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { profileStory } from './profile-story.ts'
import { type Story, scenario } from './story.ts'
import type { StoryUpdate } from './story-update.ts'

const path = '/etc/motd'

/** A profile that an update brings together with a script, which fails on w1. */
async function failing(story: Story, rollback: 'All' | 'Image' | 'Never'): Promise<StoryUpdate> {
  const { cluster, update, person } = story
  const files = [{ path, content: 'hello\n' }]
  const spec = { rollout: 'ByUpdate', disruption: 'Drain', files } as const
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
  cluster.failing.add('w1')
  return update.script('true', { profile: 'base', rollback })
}

const textOn = async ({ cluster }: Story, node: string) => {
  const look = await cluster.machine(node).host.files.look(path)
  return look.kind === 'file' ? 'there' : look.kind
}

const undoSteps = ({ cluster }: Story) =>
  cluster.state('w1')?.status?.agent?.order?.steps.filter(({ name }) => name.startsWith('undo-')) ?? []

scenario('rollback All: it is undone, the node stays out; a retry does all of it', profileStory(3), async (story) => {
  const { cluster } = story
  const failed = await failing(story, 'All')
  await failed.fails()
  const { reason } = await cluster.nodeIs('w1', 'Failed', 'StepFailed')
  expect(reason?.message).toMatch(/^of what it had done a part was undone by steps? undo-profile-.*exit code 1/s)
  expect(cluster.state('w1')?.status?.agent?.order).toMatchObject({ state: 'Failed', rolledBack: true })
  expect(undoSteps(story).map(({ state }) => state)).not.toContain('Failed')
  expect(await textOn(story, 'w1')).toBe('none')
  expect(await textOn(story, 'cp1')).toBe('there')
  await cluster.pass(600_000)
  expect(cluster.taken).toEqual(['w1'])
  expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
  cluster.failing.clear()
  await failed.isRetried('1')
  await failed.succeeds()
  expect(await textOn(story, 'w1')).toBe('there')
  expect(cluster.taken).toEqual([])
})

for (const rollback of ['Image', 'Never'] as const) {
  scenario(`rollback ${rollback}: what it had done stays, and so does the cordon`, profileStory(3), async (story) => {
    const { cluster } = story
    await (await failing(story, rollback)).fails()
    const { reason } = await cluster.nodeIs('w1', 'Failed', 'StepFailed')
    expect(reason?.message).toMatch(/^step script ended with exit code 1/)
    expect(undoSteps(story)).toEqual([])
    expect(await textOn(story, 'w1')).toBe('there')
    expect(cluster.taken).toEqual(['w1'])
  })
}

scenario('rollback All that fails: both failures are told, and the node stays out', profileStory(3), async (story) => {
  const { cluster } = story
  const { files } = cluster.machine('w1').host
  files.remove = () => Promise.reject(new Error('the disk is read-only'))
  await (await failing(story, 'All')).fails()
  const { reason } = await cluster.nodeIs('w1', 'Failed', 'UndoFailed')
  expect(reason?.message).toMatch(/half undone: step undo-profile-.*read-only.*What came first: step script ended/s)
  expect(undoSteps(story).at(-1)).toMatchObject({ state: 'Failed' })
  await cluster.pass(600_000)
  expect(cluster.taken).toEqual(['w1'])
})
