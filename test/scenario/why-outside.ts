// Situations in which something outside of Slipway is waited for: another tool's lock, a person's hold, a gate, a hook.

import type { ForeignLock } from '../../src/api/foreign-lock.ts'
import type { GateSpec } from '../../src/api/gate.ts'
import { holdAnnotation } from '../../src/api/hold.ts'
import { cronJobs, daemonSets, nodes } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { broken, PretendWeb, prometheusSays } from './pretend-web.ts'
import type { Story } from './story.ts'
import { shop } from './story-person.ts'
import type { Situation } from './why-asking.ts'

const kured: ForeignLock = { type: 'Kured', daemonSet: { namespace: shop, name: 'kured' } }
const lock = (nodeID: string) => ({ nodeID, created: '2026-01-01T00:00:00Z', TTL: 0 })
const http: GateSpec = { name: 'shop-answers', type: 'Http', url: 'http://check.example/ready' }
const told = { http: { url: 'http://hooks.example/out' } }
const workers = {
  nodeSelector: {
    matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
  },
}

const web = new PretendWeb()
web.answers('check.example', broken)
web.answers('prometheus.example', prometheusSays('7'))
web.answers('hooks.example', { status: 409, body: 'not this one' })
web.answers('slow.example', () => new Promise(() => undefined))

async function locks({ person }: Story, text?: string, more: Partial<ForeignLock> = {}): Promise<void> {
  await person.deploys({ name: 'web', replicas: 2 })
  const labels = { app: 'kured' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'kured', image: 'pretend' }] } }
  const annotations = text === undefined ? {} : { 'weave.works/kured-node-lock': text }
  const metadata = { namespace: shop, name: 'kured', annotations }
  await person.creates(daemonSets, { metadata, spec: { selector: { matchLabels: labels }, template } })
  await person.setsPolicy({ locks: [{ ...kured, ...more }] })
}

async function makesCronJob({ person }: Story, name: string): Promise<void> {
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'pretend' }] } }
  const spec = { schedule: '@yearly', suspend: true, jobTemplate: { spec: { backoffLimit: 0, template } } }
  await person.creates(cronJobs, { metadata: { name, namespace: operatorNamespace }, spec })
}

const lockSituations: readonly Situation[] = [
  {
    name: 'another tool has its lock',
    arrange: async (story) => {
      await locks(story, JSON.stringify(lock('w3')))
      await story.update.script('true').is('InProgress', 'ForeignLockHeld')
    },
    asked: [
      { of: 'update', code: 'ForeignLockHeld', names: /w3 holds annotation \S+ of DaemonSet shop\/kured/ },
      { of: 'w1', code: 'ForeignLockHeld', names: /w3 holds .*shop\/kured since 2026-01-01T00:00:00Z/ },
    ],
  },
  {
    name: 'another tool is at this very node',
    arrange: async (story) => {
      const text = JSON.stringify({ maxOwners: 2, locks: [lock('w3')] })
      await locks(story, text, { maxOwners: 2 })
      const waiting = await story.update.script('true', { strategy: { maxUnavailable: 2 } }).hasDone(3)
      await waiting.is('InProgress', 'ForeignLockHeld')
    },
    asked: [
      { of: 'w3', code: 'ForeignLockHeld', names: /w3 is locked by Kured shop\/kured/ },
      { of: 'update', code: 'ForeignLockHeld', names: /w3 is locked by Kured shop\/kured/ },
    ],
  },
  {
    name: 'the lock of another tool cannot be understood',
    arrange: async (story) => {
      await locks(story, 'mine!')
      await story.update.script('true').is('InProgress', 'ForeignLockUnknown')
    },
    asked: [
      { of: 'update', code: 'ForeignLockUnknown', names: /shop\/kured/ },
      { of: 'w1', code: 'ForeignLockUnknown', names: /shop\/kured/ },
    ],
  },
  {
    name: 'the lock of another tool cannot be written',
    arrange: async (story) => {
      story.faults.refuse('patch', new KubeError('Forbidden', 'daemonsets "kured" is forbidden'), daemonSets)
      await locks(story)
      await story.update.script('true').is('InProgress', 'ForeignLockUnknown')
    },
    asked: [
      { of: 'update', code: 'ForeignLockUnknown', names: /shop\/kured cannot be written: .*slipway install --lock/ },
    ],
  },
  {
    name: 'a person holds the node',
    arrange: async ({ person, update }) => {
      await person.annotates(nodes, 'w1', { [holdAnnotation]: JSON.stringify({ by: 'ana', why: 'disk' }) })
      await (await update.script('true').hasDone(3)).is('InProgress', 'NodeOnHold')
    },
    asked: [
      { of: 'w1', code: 'NodeOnHold', names: /w1 is on hold \(ana: disk\); slipway release w1/ },
      { of: 'update', code: 'NodeOnHold', names: /w1 is on hold \(ana: disk\)/ },
    ],
  },
]

const gateSituations: readonly Situation[] = [
  {
    name: 'a gate before the node does not hold',
    options: { web },
    arrange: ({ update }) => update.script('true', { gates: [http] }).is('InProgress', 'GateWaiting'),
    asked: [
      { of: 'update', code: 'GateWaiting', names: /gate shop-answers: check\.example answered 503: not now/ },
      { of: 'cp1', code: 'GateWaiting', names: /gate shop-answers.*503/ },
    ],
  },
  {
    name: 'a gate of the policy does not hold',
    options: { web },
    arrange: async ({ cluster, person, update }) => {
      const gate: GateSpec = { type: 'Prometheus', url: 'http://prometheus.example', query: 'errors', max: 0 }
      await person.setsPolicy({ gates: [gate] })
      await cluster.pass(1_000)
      await update.script('true').is('InProgress', 'GateWaiting')
    },
    asked: [{ of: 'update', code: 'GateWaiting', names: /\{job="shop"\} = 7; it must be at most 0/ }],
  },
  {
    name: 'a gate waits for pods',
    arrange: ({ update }) => {
      const selector = { matchLabels: { app: 'web' } }
      const gates: GateSpec[] = [{ type: 'PodsReady', namespace: shop, selector, atLeast: 2 }]
      return update.script('true', { gates }).is('InProgress', 'GateWaiting')
    },
    asked: [{ of: 'update', code: 'GateWaiting', names: /0 pod\(s\) are there, at least 2 must be/ }],
  },
  {
    name: 'a gate after the node does not hold',
    options: { web },
    arrange: async ({ cluster, update }) => {
      update.script('true', { gates: [{ ...http, when: 'AfterNode' }] })
      await cluster.nodeIs('cp1', 'Verifying', 'GateWaiting')
    },
    asked: [
      { of: 'cp1', code: 'GateWaiting', names: /cp1: gate shop-answers.*503/ },
      { of: 'update', code: 'GateWaiting', names: /cp1 Verifying: gate shop-answers/ },
    ],
  },
  {
    name: 'a gate after the wave does not hold',
    options: { web },
    arrange: async ({ update }) => {
      const held = await update.script('true', { gates: [{ ...http, when: 'AfterWave' }] }).hasDone(1)
      await held.is('InProgress', 'GateWaiting')
    },
    asked: [
      { of: 'update', code: 'GateWaiting', names: /gate shop-answers.*503/ },
      { of: 'w1', code: 'GateWaiting', names: /w1 waits for its turn in update update: gate shop-answers/ },
    ],
  },
  {
    name: 'a gate did not hold in its time',
    options: { web },
    arrange: ({ update }) =>
      update.script('true', { gates: [{ ...http, timeout: '2m' }] }).is('RequiresAttention', 'GateFailed'),
    asked: [
      { of: 'update', code: 'GateFailed', names: /gate shop-answers.*not so within its timeout of 2m/ },
      { of: 'cp1', code: 'GateFailed', names: /cp1 waits for its turn in update update: gate shop-answers/ },
    ],
  },
]

const hookSituations: readonly Situation[] = [
  {
    name: 'the Job of a hook runs before the node',
    arrange: async (story) => {
      await makesCronJob(story, 'set-noout')
      const hooks = [{ name: 'noout', when: 'BeforeNode' as const, job: { cronJob: 'set-noout' } }]
      story.update.script('true', { ...workers, hooks })
      await story.cluster.nodeIs('w1', 'Pending', 'HookRunning')
    },
    asked: [
      { of: 'w1', code: 'HookRunning', names: /w1: hook noout runs: / },
      { of: 'update', code: 'HookRunning', names: /w1 Pending: hook noout runs/ },
    ],
  },
  {
    name: 'the server of a hook before the update does not answer',
    options: { web },
    arrange: async ({ cluster, update }) => {
      const hooks = [{ name: 'announce', when: 'BeforeUpdate' as const, http: { url: 'http://slow.example/start' } }]
      const held = update.script('true', { hooks })
      await cluster.until('it is told', () => held.condition('Blocked')?.message.includes('announce') === true)
    },
    asked: [
      { of: 'update', code: 'HookRunning', names: /hook announce runs: .*slow\.example/ },
      { of: 'w1', code: 'HookRunning', names: /hook announce runs/ },
    ],
  },
  {
    name: 'a hook refuses the node',
    options: { web },
    arrange: ({ update }) => update.script('true', { hooks: [{ name: 'ask', when: 'BeforeNode', ...told }] }).fails(),
    asked: [
      { of: 'cp1', code: 'HookFailed', names: /hook ask failed: http:\/\/hooks\.example\/out answered 409/ },
      { of: 'update', code: 'HookFailed', names: /cp1.*hook ask failed/ },
    ],
  },
  {
    name: 'a hook refuses the update',
    options: { web },
    arrange: ({ update }) =>
      update
        .script('true', { hooks: [{ name: 'start', when: 'BeforeUpdate', ...told }] })
        .is('RequiresAttention', 'HookFailed'),
    asked: [
      { of: 'update', code: 'HookFailed', names: /hook start failed: .*not this one/ },
      { of: 'w1', code: 'HookFailed', names: /w1 waits for its turn in update update: hook start failed/ },
    ],
  },
]

export const outsideSituations: readonly Situation[] = [...lockSituations, ...gateSituations, ...hookSituations]
