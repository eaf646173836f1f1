// Each field of CUPCAKE's resources, with a value that is not what its definition fills in, and what comes of it.

import { expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalWork } from '../../src/agent/drivers/rehearsal-work.ts'
import {
  type CupcakeDirectUpdate,
  type CupcakeScheduledUpdate,
  cupcakeDirectUpdates,
  cupcakeNodeMarks,
  cupcakeScheduledUpdates,
} from '../../src/api/cupcake.ts'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { configMaps, deployments } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { type Story, scenario } from '../scenario/story.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { installForeign, manifest } from './manifest.ts'

/** Agents that also take runtimes and etcd. */
const five = { nodes: oneAnd(4), driversOf: () => [...rehearsalDrivers, ...rehearsalWork] }
const hour = 3_600_000

const ours = ({ cluster }: Story) =>
  (cluster.sim.server.peekAll(directUpdates) as readonly DirectUpdate[]).find(
    ({ metadata }) => metadata.ownerReferences !== undefined,
  )
const stepsOn = ({ cluster }: Story, name: string) => cluster.machine(name).host.executions.map(({ step }) => step)

/** In which order nodes were taken, and how many at once at most. */
function takings({ cluster }: Story): { readonly order: string[]; most: number } {
  const seen = { order: [] as string[], most: 0 }
  cluster.sim.server.onCommit(() => {
    seen.most = Math.max(seen.most, cluster.taken.length)
    for (const name of cluster.taken) if (!seen.order.includes(name)) seen.order.push(name)
  })
  return seen
}

/** A check would say no to this, and a drain waits until it is put right. */
async function keepsPods({ person, cluster }: Story): Promise<void> {
  await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
  await cluster.pass(10_000)
}

scenario('the components of a DirectUpdate are those it names, and no check holds it up', five, async (story) => {
  const { cluster, person } = story
  for (const name of ['w1', 'w2', 'w3']) await person.labels(name, { pool: 'a' })
  // The control plane must be there before its workers.
  await story.update
    .kubernetes('v1.36.3', { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'cp1' } } })
    .succeeds()
  await keepsPods(story)
  await installForeign(story)
  await person.creates(cupcakeDirectUpdates, manifest(cupcakeDirectUpdates, 'cupcake/with-runtime.yaml'))
  const theirs = () =>
    cluster.sim.server.peek(cupcakeDirectUpdates, { name: 'with-runtime' }) as CupcakeDirectUpdate | undefined
  await cluster.until('one is taken', () => cluster.taken.length > 0)
  expect(ours(story)?.status?.preflight).toContainEqual(
    expect.objectContaining({ check: 'DisruptionBudgets', result: 'Skipped' }),
  )
  await person.changes(deployments, 'web', { spec: { replicas: 3 } })
  await cluster.until('it is done', () => theirs()?.status?.phase === 'Succeeded', hour)
  for (const name of ['w1', 'w2', 'w3']) {
    expect(stepsOn(story, name)).toEqual(expect.arrayContaining(['install-runtime', 'restart-kubelet']))
    expect(cluster.node(name)?.metadata.annotations?.[cupcakeNodeMarks.components]).toBe('kubeadm,kubelet,containerd')
  }
  expect(stepsOn(story, 'w4')).toEqual([])
})

scenario('a ScheduledUpdate keeps to each of its fields', five, async (story) => {
  const { cluster, person } = story
  for (const name of ['cp1', 'w1', 'w2', 'w3']) await person.labels(name, { pool: 'a' })
  await person.setsPolicy({ budgets: [{ maxUnavailable: 4 }] })
  const data = { url: '/srv/bundle.tar', sha256: 'b'.repeat(64) }
  await person.creates(configMaps, { metadata: { name: 'bundle', namespace: operatorNamespace }, data })
  await keepsPods(story)
  await installForeign(story)
  const seen = takings(story)
  await person.creates(cupcakeScheduledUpdates, manifest(cupcakeScheduledUpdates, 'cupcake/tonight-in-full.yaml'))
  const status = () =>
    (
      cluster.sim.server.peek(cupcakeScheduledUpdates, { name: 'tonight-in-full' }) as
        | CupcakeScheduledUpdate
        | undefined
    )?.status
  await cluster.until('it begins', () => status()?.phase === 'Executing', 3 * hour)
  expect(cluster.sim.clock.nowMs()).toBeGreaterThanOrEqual(Date.parse('2026-01-05T09:00:00Z'))
  await cluster.until('one is taken', () => cluster.taken.length > 0)
  await person.changes(deployments, 'web', { spec: { replicas: 3 } })
  await cluster.until('it is done', () => status()?.phase === 'Completed', hour)
  const made = ours(story)
  expect(status()?.directUpdateName).toBe(made?.metadata.name)
  expect(seen.order.slice(0, 2)).toEqual(['cp1', 'w2'])
  expect(seen.order.toSorted()).toEqual(['cp1', 'w1', 'w2', 'w3'])
  expect(seen.most).toBe(2)
  expect(stepsOn(story, 'cp1')).toEqual(expect.arrayContaining(['install-runtime', 'install-etcd']))
  expect(cluster.node('w3')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
  expect(cluster.node('w4')?.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
  expect(cluster.state('w3')?.spec.order?.work.bundle).toEqual(data)
})
