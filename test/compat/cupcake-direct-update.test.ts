// DirectUpdates of CUPCAKE, carried out: each manifest comes to the end its own document promises.

import { describe, expect } from 'vitest'
import {
  type CupcakeDirectUpdate,
  cupcakeDirectUpdates,
  cupcakeNodeMarks,
  cupcakePaused,
  kopfFinalizer,
} from '../../src/api/cupcake.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { configMaps, nodes } from '../../src/api/kube.ts'
import { resourceDefinitionType } from '../../src/api/kube-definition.ts'
import { carriedBy, foreignMessage } from '../../src/operator/compat/decide-carry.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { scenario } from '../scenario/story.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { applies, direct, hour, marks, ours, reaches, usual } from './cupcake-story.ts'
import { installForeign, manifest } from './manifest.ts'

describe('a DirectUpdate', () => {
  scenario('of a version alone goes over all nodes and tells of each', usual, async (story) => {
    const { cluster } = story
    const seen = new Map<string, Set<string>>()
    const told: { readonly atMs: number; readonly phase: string | undefined }[] = []
    let last: CupcakeDirectUpdate['status']
    cluster.sim.server.onCommit(() => {
      const { status: now } = direct(cluster, 'basic') ?? {}
      if (now !== last) told.push({ atMs: cluster.sim.clock.monotonicMs(), phase: now?.phase })
      last = now
      for (const [node, status] of Object.entries(direct(cluster, 'basic')?.status?.nodes ?? {})) {
        seen.set(node, (seen.get(node) ?? new Set()).add(status.phase ?? ''))
      }
    })
    await applies(story, 'basic')
    const { status, metadata } = await reaches(story, 'basic', 'Succeeded')
    expect(ours(cluster)).toHaveLength(1)
    expect(metadata.annotations?.[carriedBy]).toBe(ours(cluster)[0]?.metadata.name)
    expect(status).toMatchObject({
      operationID: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      summary: { total: 3, completed: 3, upgrading: 0, pending: 0, failed: 0 },
      upgradePath: {
        currentVersion: '1.35.4',
        targetVersion: '1.36.3',
        steps: ['1.36.3'],
        currentStep: 0,
        totalSteps: 1,
      },
      preflightResults: { passed: true },
    })
    expect(Date.parse(status?.completedAt ?? '')).toBeGreaterThan(Date.parse(status?.startedAt ?? ''))
    await cluster.pass(5_000)
    const gaps = told.flatMap(({ atMs, phase }, index) => {
      const before = told[index - 1]
      return before?.phase === phase && before ? [atMs - before.atMs] : []
    })
    expect(gaps.length).toBeGreaterThan(3)
    expect(Math.min(...gaps)).toBeGreaterThan(900)
    const nodeStatuses = direct(cluster, 'basic')?.status?.nodes ?? {}
    expect(Object.values(nodeStatuses).map(({ phase }) => phase)).toEqual(['Completed', 'Completed', 'Completed'])
    expect(nodeStatuses.w1).toMatchObject({ lastStep: /./, startedAt: /./, completedAt: /./ })
    expect([...(seen.get('w1') ?? [])]).toEqual(expect.arrayContaining(['Pending', 'Upgrading', 'Completed']))
    for (const name of cluster.names) {
      expect(marks(cluster, name)).toMatchObject({
        [cupcakeNodeMarks.operation]: status?.operationID,
        [cupcakeNodeMarks.version]: '1.36.3',
        [cupcakeNodeMarks.components]: 'kubeadm,kubelet,kubectl',
        [cupcakeNodeMarks.status]: 'completed',
      })
    }
    expect(cluster.told('DirectUpdate', 'basic')).toEqual(expect.arrayContaining(['Made', 'InProgress', 'Succeeded']))
  })

  scenario('with every field keeps to each of them', { nodes: oneAnd(4) }, async (story) => {
    const { cluster, person } = story
    for (const name of ['w1', 'w2', 'w3']) await person.labels(name, { pool: 'a' })
    const taken: string[] = []
    let most = 0
    cluster.sim.server.onCommit(() => {
      most = Math.max(most, cluster.taken.length)
      for (const name of cluster.taken) if (!taken.includes(name)) taken.push(name)
    })
    await person.setsPolicy({ budgets: [{ maxUnavailable: 3 }] })
    // The control plane must be there before its workers.
    await story.update
      .kubernetes('v1.36.3', { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'cp1' } } })
      .succeeds()
    taken.length = 0
    most = 0
    const name = await applies(story, 'every-field')
    const { status } = await reaches(story, name, 'Succeeded')
    expect(taken[0]).toBe('w3')
    expect(taken.toSorted()).toEqual(['w1', 'w2', 'w3'])
    expect(most).toBe(2)
    expect(status?.summary).toMatchObject({ total: 3, completed: 3 })
    expect(ours(cluster).find(({ metadata }) => metadata.ownerReferences)?.spec).toMatchObject({
      operationTimeout: '6h',
      nodeTimeout: '45m',
    })
  })

  scenario(
    'over two minor versions goes by steps, and says which',
    { nodes: oneAnd(2), versionsOnOffer: ['v1.35.4', 'v1.36.3', 'v1.37.2'] },
    async (story) => {
      const { cluster, person } = story
      await installForeign(story)
      await person.creates(cupcakeDirectUpdates, { metadata: { name: 'far' }, spec: { targetVersion: '1.37.*' } })
      const path = () => direct(cluster, 'far')?.status?.upgradePath
      await cluster.until('the second step', () => path()?.currentStep === 1)
      expect(path()).toEqual({
        ...{ currentVersion: '1.35.4', targetVersion: '1.37.2', steps: ['1.36.3', '1.37.2'] },
        ...{ currentStep: 1, totalSteps: 2 },
      })
      expect(direct(cluster, 'far')?.status?.message).toMatch(/^Step 2\/2: Upgrading to 1\.37\.2/)
      const { status } = await reaches(story, 'far', 'Succeeded')
      await cluster.pass(5_000)
      for (const name of cluster.names) {
        expect(marks(cluster, name)).toMatchObject({
          [cupcakeNodeMarks.operation]: status?.operationID,
          [cupcakeNodeMarks.version]: '1.37.2',
          [cupcakeNodeMarks.status]: 'completed',
        })
      }
    },
  )

  scenario('that is a dry run touches nothing', usual, async (story) => {
    await applies(story, 'dry-run')
    const { status } = await reaches(story, 'dry-run', 'Succeeded')
    expect(status?.message).toContain('dryRun')
    expect(story.cluster.taken).toEqual([])
    expect(marks(story.cluster, 'w1')).not.toHaveProperty(cupcakeNodeMarks.status)
  })

  scenario('without its bundle asks for a person, and goes on when it is there', usual, async (story) => {
    const { person, cluster } = story
    await applies(story, 'air-gapped')
    const { status } = await reaches(story, 'air-gapped', 'RequiresAttention')
    expect(status?.message).toContain('there is no ConfigMap bundle in')
    expect(ours(cluster)).toEqual([])
    const data = { url: '/srv/bundle.tar', sha256: 'b'.repeat(64) }
    await person.creates(configMaps, { metadata: { name: 'bundle', namespace: operatorNamespace }, data })
    await cluster.until('ours is made', () => ours(cluster).length === 1)
    expect(ours(cluster)[0]?.spec.airGapped).toEqual({ bundle: data })
    await cluster.pass(1_000)
    expect(direct(cluster, 'air-gapped')?.metadata.annotations).not.toHaveProperty([foreignMessage])
  })

  scenario('that cannot be is refused, and may be put right', usual, async (story) => {
    const { cluster, person } = story
    await installForeign(story)
    await person.creates(cupcakeDirectUpdates, { metadata: { name: 'basic' }, spec: { targetVersion: 'the best' } })
    const { status } = await reaches(story, 'basic', 'Failed')
    expect(status?.message).toContain('spec.targetVersion')
    await cluster.pass(1_000)
    expect(cluster.told('DirectUpdate', 'basic')).toContain('ForeignRefused')
    await person.changes(cupcakeDirectUpdates, 'basic', { spec: { targetVersion: '1.36.3' } })
    await reaches(story, 'basic', 'Succeeded')
  })

  scenario('is made once, whenever the operator dies', { nodes: oneAnd(2), operators: 2 }, async (story) => {
    const { cluster } = story
    const ever = new Set<string>()
    cluster.sim.server.onCommit(() => {
      for (const { metadata } of ours(cluster)) ever.add(metadata.uid)
    })
    await applies(story, 'basic')
    for (let kill = 0; kill < 12; kill++) {
      for (const process of cluster.sim.programs()) process.crash()
      await cluster.pass(7_300)
    }
    await reaches(story, 'basic', 'Succeeded')
    expect(ever.size).toBe(1)
  })

  scenario('stands still while it is paused', usual, async (story) => {
    const { cluster, person } = story
    await applies(story, 'basic')
    await cluster.until('one is taken', () => cluster.taken.length > 0)
    await person.annotates(cupcakeDirectUpdates, 'basic', { [cupcakePaused]: 'true' })
    await cluster.until('ours is paused', () => ours(cluster)[0]?.status?.phase === 'Paused')
    await cluster.pass(hour)
    const { status } = await reaches(story, 'basic', 'InProgress')
    expect(status?.message).toContain('paused')
    expect(status?.summary?.completed).toBeLessThan(3)
    await person.changes(cupcakeDirectUpdates, 'basic', { metadata: { annotations: { [cupcakePaused]: null } } })
    await reaches(story, 'basic', 'Succeeded')
  })

  scenario('that was paused before it began does not begin', usual, async (story) => {
    const { cluster, person } = story
    await installForeign(story)
    const object = manifest(cupcakeDirectUpdates, 'cupcake/basic.yaml')
    await person.creates(cupcakeDirectUpdates, {
      ...object,
      metadata: { name: 'basic', annotations: { [cupcakePaused]: 'true' } },
    })
    await cluster.pass(hour)
    expect(cluster.taken).toEqual([])
    await person.changes(cupcakeDirectUpdates, 'basic', { metadata: { annotations: { [cupcakePaused]: null } } })
    await reaches(story, 'basic', 'Succeeded')
  })

  scenario('edited half-way takes up what is safe at once, and the rest afterwards', usual, async (story) => {
    const { cluster, person } = story
    await applies(story, 'basic')
    await cluster.until('one is taken', () => cluster.taken.length > 0)
    await person.changes(cupcakeDirectUpdates, 'basic', { spec: { targetVersion: '1.36.4', concurrency: 2 } })
    await cluster.until('the safe part is passed on', () => ours(cluster)[0]?.spec.strategy?.maxUnavailable === 2)
    await cluster.until('the rest waits', () =>
      /kubernetes waits for the end/.test(direct(cluster, 'basic')?.status?.message ?? ''),
    )
    expect(ours(cluster)[0]?.spec.kubernetes?.version).toBe('v1.36.3')
    await cluster.until('it goes on', () => ours(cluster)[0]?.spec.kubernetes?.version === 'v1.36.4')
    await cluster.until(
      'to the second version',
      () => direct(cluster, 'basic')?.status?.upgradePath?.targetVersion === '1.36.4',
    )
    await reaches(story, 'basic', 'Succeeded')
    expect(ours(cluster)).toHaveLength(1)
  })

  scenario('deleted half-way puts its nodes back and leaves nothing', usual, async (story) => {
    const { cluster, person } = story
    await installForeign(story)
    const object = manifest(cupcakeDirectUpdates, 'cupcake/basic.yaml')
    await person.creates(cupcakeDirectUpdates, { ...object, metadata: { name: 'basic', finalizers: [kopfFinalizer] } })
    await cluster.until('one is marked', () => marks(cluster, 'cp1')[cupcakeNodeMarks.status] === 'pending')
    await person.deletes(cupcakeDirectUpdates, { name: 'basic' })
    await cluster.until('it is gone', () => direct(cluster, 'basic') === undefined && ours(cluster).length === 0)
    await cluster.until('no node waits', () =>
      cluster.names.every((name) => marks(cluster, name)[cupcakeNodeMarks.status] !== 'pending'),
    )
    expect(cluster.taken).toEqual([])
  })

  scenario('whose own update a person deletes is cancelled', usual, async (story) => {
    const { cluster, person } = story
    await applies(story, 'basic')
    await cluster.until('one is taken', () => cluster.taken.length > 0)
    await person.deletes(directUpdates, { name: ours(cluster)[0]?.metadata.name ?? '' })
    await reaches(story, 'basic', 'Cancelled')
    await cluster.pass(hour)
    expect(ours(cluster)).toEqual([])
  })

  scenario('says which node failed, and tries it again at its mark', usual, async (story) => {
    const { cluster, person } = story
    cluster.failing.add('cp1')
    await applies(story, 'basic')
    const { status } = await reaches(story, 'basic', 'Failed')
    expect(status?.nodes?.cp1).toMatchObject({ phase: 'Failed', error: /./ })
    await cluster.until('the mark says so', () => marks(cluster, 'cp1')[cupcakeNodeMarks.status] === 'failed')
    cluster.failing.clear()
    await cluster.pass(5_000)
    await person.annotates(nodes, 'cp1', { [cupcakeNodeMarks.status]: 'pending' })
    await reaches(story, 'basic', 'Succeeded')
  })

  scenario('that another brought to its end is left alone', usual, async (story) => {
    const { cluster, person } = story
    await person.creates(cupcakeDirectUpdates, manifest(cupcakeDirectUpdates, 'cupcake/basic.yaml'))
    const status = { phase: 'Succeeded' as const, message: 'long ago' }
    await cluster.sim
      .client('cupcake')
      .patch(
        cupcakeDirectUpdates,
        { name: 'basic' },
        { type: 'merge', body: { status } },
        new AbortController().signal,
        'status',
      )
    await installForeign(story)
    await cluster.pass(hour)
    expect(ours(cluster)).toEqual([])
    expect(direct(cluster, 'basic')?.status).toEqual(status)
  })

  scenario('is nobody’s where its definition is not installed', usual, async (story) => {
    const { cluster, person } = story
    await person.creates(cupcakeDirectUpdates, manifest(cupcakeDirectUpdates, 'cupcake/basic.yaml'))
    await cluster.pass(hour)
    expect(ours(cluster)).toEqual([])
    await installForeign(story)
    await reaches(story, 'basic', 'Succeeded')
    await person.deletes(resourceDefinitionType, { name: 'directupdates.cupcake.ricardomolendijk.com' })
    await cluster.pass(5_000)
  })
})
