// Objects and dependencies for the tests of the command line: one small cluster in the middle of an upgrade.

import { FileBundles } from '../../src/adapters/bundle/file-bundles.ts'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { gzipCompression } from '../../src/adapters/compression/gzip.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { FileReleases } from '../../src/adapters/signed-release/file-releases.ts'
import type { DirectUpdate, DirectUpdateStatus } from '../../src/api/direct-update.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { type Lease, leases, type Node, nodes } from '../../src/api/kube.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import { type AgentStatus, type NodeState, nodeStates, type Order, type Rollout } from '../../src/api/node-state.ts'
import type { CliDependencies, Terminal } from '../../src/cli/dependencies.ts'
import { runCli } from '../../src/cli/program.ts'
import { backupShelf } from '../../src/main/roles/backup-shelf.ts'
import { observe } from '../../src/operator/preflight/observe.ts'
import { askForVersions } from '../../src/operator/versions/version-desk.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'
import { ManualClock } from '../fakes/manual-clock.ts'

export const noon = '2026-11-15T12:00:00Z'
export const operation = 'to-1-36/1a2b3c4d-1-f00d'

const meta = (name: string) => ({ name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: noon })

export interface NodeTraits {
  readonly controlPlane?: boolean
  readonly kubelet?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly cordon?: 'person' | 'update'
  readonly notReady?: boolean
}

export function node(name: string, traits: NodeTraits = {}): Node {
  const role = traits.controlPlane ? { 'node-role.kubernetes.io/control-plane': '' } : {}
  return {
    metadata: {
      ...meta(name),
      labels: { ...role, ...traits.labels },
      ...(traits.cordon === 'update' && { annotations: { 'slipway.dev/cordon': operation } }),
    },
    spec: traits.cordon ? { unschedulable: true } : {},
    status: {
      conditions: [
        traits.notReady
          ? { type: 'Ready', status: 'False', message: 'kubelet stopped posting status' }
          : { type: 'Ready', status: 'True' },
      ],
      nodeInfo: { kubeletVersion: traits.kubelet ?? 'v1.35.4', bootID: 'boot' },
    },
  }
}

/** Its kubelet’s, renewed moments before the clock of the command line. */
export function heartbeat(name: string): Lease {
  return {
    metadata: { ...meta(name), namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: '2026-11-15T12:04:55.000000Z' },
  }
}

export function agentOf(order?: AgentStatus['order']): AgentStatus {
  return {
    version: '0.1.0',
    bootID: 'boot',
    epoch: 1,
    drivers: ['script', 'kubeadm', 'kubelet', 'kubectl'],
    facts: {
      os: 'Debian 13',
      kernel: '6.12',
      architecture: 'amd64',
      kubelet: 'v1.35.4',
      versionsOnOffer: ['v1.35.5', 'v1.36.3'],
      runtime: 'containerd 2.2.9',
      cgroup: 'v2',
      freeGiB: 10,
      kubeletFlags: [],
      certificatesExpireAt: '2027-11-01T00:00:00.000Z',
    },
    ...(order && { order }),
  }
}

function orderFor(name: string): Order {
  return {
    id: `${operation}/1`,
    update: 'to-1-36',
    nodeUID: `uid-${name}`,
    epoch: 1,
    role: 'Worker',
    offline: 'Refused',
    desired: 'Run',
    timeout: '30m',
    work: { kubernetes: { version: 'v1.36.3' } },
  }
}

export function nodeState(name: string, rollout?: Partial<Rollout>, agent: AgentStatus = agentOf()): NodeState {
  const whole: Rollout | undefined = rollout && {
    update: 'to-1-36',
    operationID: operation,
    phase: 'Pending',
    since: noon,
    attempt: 1,
    ...rollout,
  }
  return {
    metadata: meta(name),
    spec: agent.order ? { order: { ...orderFor(name), id: agent.order.id } } : {},
    status: { agent, ...(whole && { rollout: whole }) },
  }
}

export function update(
  status?: DirectUpdateStatus,
  spec: DirectUpdate['spec'] = { kubernetes: { version: 'v1.36.3' } },
): DirectUpdate {
  return {
    metadata: { ...meta('to-1-36'), generation: 1 },
    spec,
    ...(status && { status: { observedGeneration: 1, ...status } }),
  }
}

export const budgetReason = {
  code: 'PodDisruptionBudget',
  message: 'waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed)',
  since: '2026-11-15T12:03:00Z',
  nextCheck: '2026-11-15T12:06:00Z',
} as const

const spent = { code: 'BudgetSpent', message: 'budget "cluster" allows 2 nodes away; w1, w2 already are' } as const

/** Three control-plane nodes done, w1 drains behind a budget, w2 works, w3 waits, w4 is a person's. */
export function upgradeMidway(): FakeKubeApi {
  return new FakeKubeApi()
    .put(
      nodes,
      ...['cp1', 'cp2', 'cp3'].map((name) => node(name, { controlPlane: true, kubelet: 'v1.36.3' })),
      node('w1', { cordon: 'update', labels: { pool: 'a' } }),
      node('w2', { cordon: 'update', labels: { pool: 'a' } }),
      node('w3', { labels: { pool: 'b' } }),
      node('w4', { labels: { pool: 'b' }, cordon: 'person' }),
    )
    .put(leases, ...['cp1', 'cp2', 'cp3', 'w1', 'w2', 'w3', 'w4'].map(heartbeat))
    .put(
      nodeStates,
      ...['cp1', 'cp2', 'cp3'].map((name) => nodeState(name, { phase: 'Done', since: '2026-11-15T12:02:00Z' })),
      nodeState('w1', {
        phase: 'Draining',
        since: '2026-11-15T12:02:30Z',
        drain: { total: 12, left: 2, pods: [{ pod: 'shop/checkout-7f9c4', state: 'Blocked', reason: budgetReason }] },
      }),
      nodeState(
        'w2',
        { phase: 'Working', since: '2026-11-15T12:04:00Z' },
        agentOf({
          id: `${operation}/1`,
          state: 'Running',
          steps: [{ name: 'upgrade-kubelet', state: 'Running', attempts: 1 }],
        }),
      ),
      nodeState('w3', { phase: 'Pending', reason: spent }),
      nodeState('w4', { phase: 'Pending', reason: spent }),
    )
    .put(
      directUpdates,
      update({
        phase: 'InProgress',
        operationID: operation,
        startedAt: noon,
        path: { current: 'v1.35.4', target: 'v1.36.3' },
        summary: { total: 7, done: 3, working: 2, waiting: 2, failed: 0, skipped: 0 },
        nodes: [
          { name: 'w1', phase: 'Draining', since: '2026-11-15T12:02:30Z', reason: budgetReason },
          { name: 'w3', phase: 'Pending', reason: spent },
        ],
        conditions: [
          {
            type: 'Planned',
            status: 'True',
            reason: 'Planned',
            message: 'it can be carried out',
            lastTransitionTime: noon,
          },
          {
            type: 'Progressing',
            status: 'True',
            reason: 'InProgress',
            message: '3/7 nodes done',
            lastTransitionTime: noon,
          },
        ],
      }),
    )
    .put(maintenancePolicies, {
      metadata: meta('default'),
      spec: {},
      status: {
        ledger: {
          epoch: 1,
          grants: [{ node: 'w1', nodeUID: 'uid-w1', holder: operation, since: '2026-11-15T12:02:30Z' }],
        },
      },
    })
}

export class CapturedTerminal implements Terminal {
  text = ''
  columns = 100
  rows = 24
  isTTY = false
  color = false

  write(text: string): void {
    this.text += text
  }
}

export interface CliFixture {
  readonly out: CapturedTerminal
  readonly err: CapturedTerminal
  readonly clock: ManualClock
  readonly controller: AbortController
  run(...argv: readonly string[]): Promise<number>
}

const notAsked = () => Promise.reject(new Error('this test does not start a role'))

export function cliFixture(api: FakeKubeApi, changes: Partial<CliDependencies> = {}): CliFixture {
  const out = new CapturedTerminal()
  const err = new CapturedTerminal()
  const clock = new ManualClock('2026-11-15T12:05:00Z')
  const controller = new AbortController()
  const deps: CliDependencies = {
    out,
    err,
    clock,
    random: { next: () => 0.5, uuid: () => 'abcde123-0000-4000-8000-000000000000' },
    yaml: async () => ({
      parse: JSON.parse,
      documents: (text) => text.split('\n---\n').map((document) => JSON.parse(document)),
      print: (value) => `${JSON.stringify(value)}\n`,
    }),
    version: '0.1.0',
    program: 'slipway',
    signal: controller.signal,
    connect: async () => api,
    contexts: async () => ['lab', 'prod'],
    versionsOnOffer: (from, namespace, signal) => askForVersions({ api: from, namespace }, {}, signal),
    observe: (from, question, signal) => observe({ api: from, clock }, question, signal),
    readFile: async (path) =>
      Promise.reject(Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' })),
    writeFile: async () => Promise.reject(new Error('EROFS: read-only file system')),
    local: notAsked,
    compression: async () => gzipCompression,
    bundles: async () => new FileBundles(),
    signedReleases: async () => new FileReleases([]),
    backupShelf: async (options) =>
      backupShelf({ clock: new SystemClock(), random: new SystemRandom(), env: {} }, options),
    confirm: () => Promise.resolve(false),
    sha256: (text) => text.length.toString(16).padStart(64, '0'),
    crds: async () => 'kind: CustomResourceDefinition\n',
    foreignCrds: async () => 'kind: CustomResourceDefinition\n',
    runOperator: notAsked,
    runAgent: notAsked,
    forgetHost: notAsked,
    runDemo: notAsked,
    runConsole: notAsked,
    openBrowser: () => Promise.resolve(false),
    hasPage: () => Promise.resolve(true),
    spareMemory: () => undefined,
    runPlan: notAsked,
    runSimulate: notAsked,
    runSimAgents: notAsked,
    ...changes,
  }
  return { out, err, clock, controller, run: (...argv) => runCli(argv, deps) }
}
