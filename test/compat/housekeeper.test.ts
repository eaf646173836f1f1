// Manifests as users of Housekeeper wrote them, each with the end its document promises.

import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalWork } from '../../src/agent/drivers/rehearsal-work.ts'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { housekeeperLabels, housekeeperMark, housekeeperResult, housekeeperUpdates } from '../../src/api/housekeeper.ts'
import { namespaces, nodes } from '../../src/api/kube.ts'
import { type Story, type StoryOptions, scenario } from '../scenario/story.ts'
import type { StoryCluster } from '../scenario/story-cluster.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { installForeign, manifest } from './manifest.ts'

const both = 'both'
const driversOf: NonNullable<StoryOptions['driversOf']> = () => [...rehearsalDrivers, ...rehearsalWork]
const minute = 60_000

async function installs(story: Story): Promise<void> {
  await story.person.creates(namespaces, { metadata: { name: 'shop' } })
  await installForeign(story)
}

async function applies({ person }: Story, name: string, spec: object = {}): Promise<string> {
  const update = manifest(housekeeperUpdates, `housekeeper/${name}.yaml`)
  await person.creates(housekeeperUpdates, { ...update, spec: { ...(update.spec as object), ...spec } })
  return update.metadata.name ?? ''
}

const theirs = ({ sim }: StoryCluster, name: string) => sim.server.peek(housekeeperUpdates, { name, namespace: 'shop' })
const phase = (cluster: StoryCluster, name: string) =>
  theirs(cluster, name)?.metadata.annotations?.[housekeeperResult.phase]
const message = (cluster: StoryCluster, name: string) =>
  theirs(cluster, name)?.metadata.annotations?.[housekeeperResult.message]
const made = ({ sim }: StoryCluster) => sim.server.peekAll(directUpdates) as readonly DirectUpdate[]
const labelled = (cluster: StoryCluster, label: keyof typeof housekeeperLabels) =>
  cluster.names.filter((name) => cluster.node(name)?.metadata.labels?.[housekeeperLabels[label]] === '')
const isStamped = (cluster: StoryCluster, node: string, file: string) =>
  cluster
    .machine(node)
    .host.files.read(`/var/nkd/${file}`)
    .then((text) => text === '')
const booted = (cluster: StoryCluster, node: string) =>
  cluster.machine(node).host.executions.filter(({ step }) => step === 'boot-image').length

/** What the labels said at any time. */
function watchLabels(cluster: StoryCluster) {
  const seen = { most: 0, upgraded: new Set<string>() }
  cluster.sim.server.onCommit(() => {
    const now = labelled(cluster, 'upgrading').filter((name) => name !== 'cp1')
    seen.most = Math.max(seen.most, now.length)
    for (const name of labelled(cluster, 'upgrading')) seen.upgraded.add(name)
  })
  return seen
}

describe('Housekeeper', () => {
  scenario(
    'image and version: every node, at most as many workers as said',
    { nodes: oneAnd(4), driversOf },
    async (story) => {
      const { cluster, person } = story
      await person.setsPolicy({ budgets: [{ maxUnavailable: 4 }] })
      await installs(story)
      const seen = watchLabels(cluster)
      const name = await applies(story, both)
      await cluster.until('one is done', () => labelled(cluster, 'completed').length > 0)
      expect(labelled(cluster, 'completed')).toEqual(['cp1'])
      await cluster.until('it is done', () => phase(cluster, name) === 'Succeeded')
      expect(seen.most).toBe(2)
      expect([...seen.upgraded].sort()).toEqual(['cp1', 'w1', 'w2', 'w3', 'w4'])
      for (const node of cluster.names) {
        expect(cluster.machine(node).host.installed?.kubelet).toBe('v1.36.3')
        expect(booted(cluster, node)).toBe(1)
        expect(await isStamped(cluster, node, 'os/22.03-LTS-SP2.stamp')).toBe(true)
        expect(await isStamped(cluster, node, 'kube/v1.36.3.stamp')).toBe(true)
      }
      await cluster.pass(minute)
      expect([...labelled(cluster, 'upgrading'), ...labelled(cluster, 'completed'), ...cluster.taken]).toEqual([])
      expect(cluster.names.filter((node) => cluster.node(node)?.metadata.annotations?.[housekeeperMark])).toEqual([])
      expect(theirs(cluster, name)?.metadata.annotations).toMatchObject({
        [housekeeperResult.update]: made(cluster)[0]?.metadata.name,
        [housekeeperResult.progress]: '5/5',
      })
      expect(theirs(cluster, name)?.status).toMatchObject({
        phase: 'Succeeded',
        progress: '5/5',
        observedGeneration: 1,
      })
      expect(cluster.told('Update', name)).toEqual(expect.arrayContaining(['Made', 'InProgress', 'Succeeded']))
    },
  )

  scenario(
    'the image only, whenever the operator dies',
    { nodes: oneAnd(2), operators: 2, driversOf },
    async (story) => {
      const { cluster } = story
      await installs(story)
      const uids = new Set<string>()
      cluster.sim.server.onCommit(() => {
        for (const { metadata } of made(cluster)) uids.add(metadata.uid)
      })
      const name = await applies(story, 'os-only')
      for (let kill = 0; kill < 12; kill++) {
        for (const process of cluster.sim.programs()) process.crash()
        await cluster.pass(7_300)
      }
      await cluster.until('it is done', () => phase(cluster, name) === 'Succeeded')
      expect(uids.size).toBe(1)
      for (const node of cluster.names) {
        expect(cluster.machine(node).host.installed?.kubelet).toBe('v1.35.4')
        expect(booted(cluster, node)).toBe(1)
        expect(await isStamped(cluster, node, 'os/23.stamp')).toBe(true)
      }
      await cluster.pass(minute)
      expect([...labelled(cluster, 'upgrading'), ...labelled(cluster, 'completed')]).toEqual([])
    },
  )

  scenario(
    'a pod that nothing makes again stays unless eviction is forced',
    { nodes: oneAnd(2), driversOf },
    async (story) => {
      const { cluster, person } = story
      await installs(story)
      await person.createsPod('alone', 'w1')
      const name = await applies(story, both, { evictPodForce: false })
      await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
      await person.changes(housekeeperUpdates, name, { spec: { evictPodForce: true } })
      await cluster.until('it is done', () => phase(cluster, name) === 'Succeeded')
    },
  )

  scenario(
    'an edit half-way: the pace at once, the version when the first is done',
    { nodes: oneAnd(3), driversOf },
    async (story) => {
      const { cluster, person } = story
      await installs(story)
      const name = await applies(story, both, { kubeVersion: 'v1.35.5', maxUnavailable: 1 })
      await cluster.until('it runs', () => phase(cluster, name) === 'InProgress')
      await person.changes(housekeeperUpdates, name, { spec: { kubeVersion: 'v1.36.3', maxUnavailable: 2 } })
      await cluster.until('it says so', () => message(cluster, name)?.includes('its edit waits for the end') ?? false)
      expect(made(cluster)[0]?.spec).toMatchObject({
        kubernetes: { version: 'v1.35.5' },
        strategy: { maxUnavailable: 2 },
      })
      const kubelets = () => cluster.names.map((node) => cluster.machine(node).host.installed?.kubelet)
      await cluster.until('every kubelet is new', () => kubelets().every((kubelet) => kubelet === 'v1.36.3'))
      await cluster.until('it is done', () => phase(cluster, name) === 'Succeeded')
      expect(message(cluster, name)).toBeUndefined()
    },
  )

  scenario('several at once go one after another', { nodes: oneAnd(2), driversOf }, async (story) => {
    const { cluster } = story
    await installs(story)
    const first = await applies(story, both)
    await cluster.pass(1_500)
    const second = await applies(story, 'os-only')
    await cluster.until('the second waits', () => phase(cluster, second) === 'Waiting')
    expect(message(cluster, second)).toContain(`Update shop/${first}`)
    await cluster.until('the first is done', () => phase(cluster, first) === 'Succeeded')
    await cluster.until('the second is done', () => phase(cluster, second) === 'Succeeded')
    expect(cluster.names.map((node) => booted(cluster, node))).toEqual([2, 2, 2])
  })

  scenario('deleted half-way: nothing of it is left', { nodes: oneAnd(3), driversOf }, async (story) => {
    const { cluster, person } = story
    await installs(story)
    const name = await applies(story, both, { maxUnavailable: 1 })
    await cluster.until('a worker is worked on', () => labelled(cluster, 'upgrading').includes('w1'))
    await person.deletes(housekeeperUpdates, { name, namespace: 'shop' })
    await cluster.until('ours is gone', () => made(cluster).length === 0)
    await cluster.pass(minute)
    expect([...labelled(cluster, 'upgrading'), ...labelled(cluster, 'completed'), ...cluster.taken]).toEqual([])
    expect(booted(cluster, 'w3')).toBe(0)
  })

  scenario(
    'what cannot be carried out says why, and goes on when it is put right',
    { nodes: oneAnd(1), driversOf },
    async (story) => {
      const { cluster, person } = story
      await installs(story)
      const name = await applies(story, both, { osImageURL: '', kubeVersion: '' })
      await cluster.until('it says so', () => phase(cluster, name) === 'Refused')
      expect(message(cluster, name)).toContain('set osImageURL, kubeVersion or both')
      expect(made(cluster)).toEqual([])
      await person.changes(housekeeperUpdates, name, { spec: { kubeVersion: 'v1.36.3', maxUnavailable: 0 } })
      await cluster.until('it is done', () => phase(cluster, name) === 'Succeeded')
      expect(message(cluster, name)).toContain('one at a time')
    },
  )

  scenario('labels of others stay where nothing is carried out', { nodes: oneAnd(1), driversOf }, async (story) => {
    const { cluster, person } = story
    await installs(story)
    await person.labels('w1', { [housekeeperLabels.upgrading]: '' })
    await cluster.pass(minute)
    expect(labelled(cluster, 'upgrading')).toEqual(['w1'])
    await person.changes(nodes, 'w1', { metadata: { labels: { [housekeeperLabels.upgrading]: null } } })
  })
})
