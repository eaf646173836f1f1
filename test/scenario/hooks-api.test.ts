import { describe, expect } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { cronJobs, type Job, jobs } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { type Story, scenario } from './story.ts'

const hooks: NonNullable<DirectUpdateSpec['hooks']> = [
  { name: 'noout', when: 'BeforeNode', job: { cronJob: 'set' }, cleanup: { job: { cronJob: 'unset' } } },
]
const only = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
const leaderChanged = new KubeError('ServerError', 'etcdserver: leader changed', { status: 500 })

async function makesCronJobs({ person }: Story, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'pretend' }] } }
    const jobTemplate = { metadata: { labels: { made: name } }, spec: { backoffLimit: 0, template } }
    const metadata = { name, namespace: operatorNamespace }
    await person.creates(cronJobs, { metadata, spec: { schedule: '@yearly', suspend: true, jobTemplate } })
  }
}

/** Every Job that was ever made, also one that is gone. */
function made({ cluster }: Story): readonly string[] {
  const names: string[] = []
  const seen = new Set<string>()
  cluster.sim.server.onCommit(({ kind }) => {
    if (kind !== jobs.kind) return
    for (const { metadata } of cluster.sim.server.peekAll(jobs) as readonly Job[]) {
      if (!seen.has(metadata.uid)) names.push(metadata.labels?.made ?? '')
      seen.add(metadata.uid)
    }
  })
  return names
}

const run = ({ cluster }: Story) => cluster.state('w1')?.spec.hooks?.[0]

describe('an API server that is not itself while a Job of a hook is to be made', () => {
  for (const error of [
    leaderChanged,
    new KubeError('Timeout', 'the request timed out', { status: 504 }),
    new KubeError('TooManyRequests', 'too many requests, please try again later', { status: 429 }),
    new KubeError('Unreachable', 'connection refused'),
  ]) {
    scenario(`${error.code}: the clean-up is made once all the same`, { nodes: 3 }, async (story) => {
      const { cluster, update, faults } = story
      await makesCronJobs(story, 'set', 'unset')
      const names = made(story)
      const running = update.script('true', { hooks, nodeSelector: only })
      await cluster.nodeIs('w1', 'Working')
      faults.refuse('create', error, jobs)
      await cluster.until('the clean-up is begun', () => run(story)?.cleanup?.state === 'Running')
      await cluster.pass(90_000)
      expect(run(story)?.cleanup?.state).toBe('Running')
      faults.allow('create')
      await cluster.until('its Job is made', () => names.includes('unset'), 60_000)
      await cluster.until('it is cleaned up', () => run(story)?.cleanup?.state === 'Succeeded')
      await running.succeeds()
      expect(names).toEqual(['set', 'unset'])
    })
  }

  scenario('that made the Job and said it had not: there is one', { nodes: 3 }, async (story) => {
    const { cluster, update, faults } = story
    await makesCronJobs(story, 'set', 'unset')
    const names = made(story)
    faults.refuse('create', new KubeError('Timeout', 'the request timed out', { status: 504 }), jobs, 'done')
    const running = update.script('true', { hooks, nodeSelector: only })
    await running.succeeds()
    await cluster.until('it is cleaned up', () => run(story)?.cleanup?.state === 'Succeeded')
    expect(names).toEqual(['set', 'unset'])
  })

  scenario('the node waits for its hook, untouched', { nodes: 3 }, async (story) => {
    const { cluster, update, faults } = story
    await makesCronJobs(story, 'set', 'unset')
    const names = made(story)
    faults.refuse('get', leaderChanged, cronJobs)
    const running = update.script('true', { hooks, nodeSelector: only })
    await cluster.until('the hook is begun', () => run(story)?.state === 'Running')
    await cluster.pass(90_000)
    expect(run(story)?.state).toBe('Running')
    expect(cluster.isCordoned('w1')).toBe(false)
    faults.allow('get')
    await running.succeeds()
    expect(names).toEqual(['set', 'unset'])
  })

  scenario('for longer than the hook may take fails it, and says why', { nodes: 3 }, async (story) => {
    const { cluster, update, faults } = story
    await makesCronJobs(story, 'set', 'unset')
    faults.refuse('create', leaderChanged, jobs)
    const asked = update.script('true', {
      hooks: hooks.map((hook) => ({ ...hook, timeout: '2m' })),
      nodeSelector: only,
    })
    await asked.fails()
    expect(cluster.state('w1')?.status?.rollout?.reason).toMatchObject({ code: 'HookFailed' })
    expect(run(story)?.reason?.message).toContain(
      `no Job can be made of CronJob ${operatorNamespace}/set: etcdserver: leader changed`,
    )
    expect(cluster.isCordoned('w1')).toBe(false)
  })
})

describe('an API server that refuses a Job of a hook for good', () => {
  for (const error of [
    new KubeError('Forbidden', 'jobs.batch is forbidden', { status: 403 }),
    new KubeError('Invalid', 'spec.template: Required value', { status: 422 }),
  ]) {
    scenario(`${error.code}: it fails at once`, { nodes: 3 }, async (story) => {
      const { cluster, update, faults } = story
      await makesCronJobs(story, 'set', 'unset')
      faults.refuse('create', error, jobs)
      update.script('true', { hooks, nodeSelector: only })
      await cluster.until('the hook is begun', () => run(story) !== undefined)
      await cluster.until('it has failed', () => run(story)?.state === 'Failed', 5_000)
      expect(run(story)?.reason?.message).toContain(error.message)
    })
  }
})

describe('an API server that is not itself while the Job of a gate is to be made', () => {
  scenario('the node waits for it, and it is made once', { nodes: 3 }, async (story) => {
    const { cluster, update, faults } = story
    await makesCronJobs(story, 'smoke')
    const names = made(story)
    faults.refuse('create', leaderChanged, jobs)
    const running = update.script('true', { gates: [{ type: 'Job', cronJob: 'smoke' }], nodeSelector: only })
    await cluster.until(
      'it says why',
      () => cluster.state('w1')?.status?.rollout?.reason?.message.includes('etcdserver: leader changed') === true,
    )
    await cluster.pass(60_000)
    faults.allow('create')
    await running.succeeds()
    expect(names).toEqual(['smoke'])
  })
})
