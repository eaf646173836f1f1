// Which test shows that each promise of safety is kept, on a real API server or a booted machine. `make check` holds that each
// named test is there, and that nothing of the catalogues is left out.

import type { GatePoint, GateType } from '../../src/api/gate.ts'
import type { HookPoint } from '../../src/api/hook.ts'
import type { CheckName } from '../../src/api/preflight.ts'

export interface Proof {
  readonly file: string
  /** As it stands in the file; of a table with its places: `$check: $what`. */
  readonly title: string
  /** Where the title is of a table: words of that very row, which stand in `rows` or in the file. */
  readonly row?: string
  readonly rows?: string
  /** The file that holds the title, where several share it. */
  readonly suite?: string
}

type Proofs = readonly [Proof, ...Proof[]]

const inFile = (file: string) => (title: string, row?: string) => ({ file, title, ...(row !== undefined && { row }) })
const preflight = inFile('test/apiserver/preflight.test.ts')
const gates = inFile('test/apiserver/gates.test.ts')
const checkpoints = inFile('test/apiserver/checkpoints.test.ts')
const drain = inFile('test/apiserver/drain.test.ts')
const stays = inFile('test/apiserver/drain-stays.test.ts')
const badInput = inFile('test/apiserver/bad-input.test.ts')
const refused = (row: string): Proof => ({
  file: 'test/apiserver/crds.test.ts',
  title: 'refuses $what',
  rows: 'test/refusals/cases.ts',
  row,
})

const checkOf = (check: CheckName): Proofs => [preflight('$check: $what', `check: '${check}'`)]

export const checkProofs: Readonly<Record<CheckName, Proofs>> = {
  Agents: checkOf('Agents'),
  VersionPath: checkOf('VersionPath'),
  PackageVersion: checkOf('PackageVersion'),
  ApiReady: [preflight('ApiReady: says that it is not ready')],
  NodesReady: checkOf('NodesReady'),
  DiskSpace: checkOf('DiskSpace'),
  MemoryPressure: checkOf('MemoryPressure'),
  VersionSkew: checkOf('VersionSkew'),
  TargetRequirements: checkOf('TargetRequirements'),
  KubeletFlags: checkOf('KubeletFlags'),
  RemovedApis: [preflight('RemovedApis: objects are kept through an API that goes, and somebody asked for it')],
  DisruptionBudgets: checkOf('DisruptionBudgets'),
  PodsUnderTwoBudgets: checkOf('PodsUnderTwoBudgets'),
  Capacity: checkOf('Capacity'),
  Certificates: checkOf('Certificates'),
  Sources: checkOf('Sources'),
  Bundle: checkOf('Bundle'),
  ClockSkew: checkOf('ClockSkew'),
  ControlPlaneEndpoint: checkOf('ControlPlaneEndpoint'),
  Webhooks: checkOf('Webhooks'),
  PolicyBudgets: checkOf('PolicyBudgets'),
}

export const gateProofs: Readonly<Record<GateType, Proofs>> = {
  NodeReady: [checkpoints('NodeReady: another node that is not Ready keeps all where they are')],
  PodsReady: [gates('NodeReady and PodsReady hold for a cluster at rest')],
  Prometheus: [gates('Prometheus: waits for the number, refuses a wrong query, and fails closed when nobody answers')],
  Alertmanager: [gates('Alertmanager: waits until the alerts that count are over')],
  Http: [gates('Http: sends the token of a Secret, and waits for the answer it expects')],
  Job: [
    gates('Jobs: a gate and a hook run theirs once for each node, with its clean-up'),
    checkpoints('Job: one that fails keeps its node cordoned, and fails it'),
  ],
  Cel: [gates('$recipe')],
}

export const gatePointProofs: Readonly<Record<GatePoint, Proofs>> = {
  BeforeNode: [gates('Http: sends the token of a Secret, and waits for the answer it expects')],
  AfterNode: [
    checkpoints('AfterNode: the node stays cordoned until it holds'),
    checkpoints('Job: one that fails keeps its node cordoned, and fails it'),
  ],
  AfterWave: [checkpoints('AfterWave: the next wave waits for it')],
  Soak: [checkpoints('Soak: must hold for the whole of it')],
}

const owed = checkpoints('hooks: what is owed is cleaned up once, though the leader is killed and the update deleted')

const atEach = checkpoints('hooks: before and after update, wave and node, by Job and by HTTP, each clean-up once')

export const hookProofs: Readonly<Record<HookPoint | 'refused' | 'clean-up', Proofs>> = {
  BeforeUpdate: [atEach, owed],
  AfterUpdate: [atEach],
  BeforeWave: [atEach],
  AfterWave: [atEach],
  BeforeNode: [atEach, owed, gates('Jobs: a gate and a hook run theirs once for each node, with its clean-up')],
  AfterNode: [atEach],
  refused: [gates('HTTP hooks: one key for each call, and the node is not touched when one is refused')],
  'clean-up': [atEach, owed],
}

/** In the order of the ladder, and what goes with it. */
export const drainProofs = {
  'skip: static pods, pods of DaemonSets': [stays('static pods and pods of DaemonSets stay')],
  'skip: by a rule': [drain('leaves what a rule skips, and waits for what may run to its end')],
  'protect: unmanaged pods': [stays('a pod that nothing would make again waits for a person')],
  'protect: emptyDir': [stays('a pod with data in an emptyDir waits where the settings say so')],
  'wait for completion': [drain('leaves what a rule skips, and waits for what may run to its end')],
  'evict: the budget holds': [drain('names workload, budget and the pod that keeps it')],
  'evict: two drains against one budget': [
    stays('two drains against one budget: the node that was taken first is emptied first'),
  ],
  'escalate: budget, workload, pod': [drain('names workload, budget and the pod that keeps it')],
  'escalate: a webhook': [drain('quotes whoever refuses the eviction, and goes on when that is over')],
  'escalate: two budgets': [drain('names both budgets of a pod that no API server evicts')],
  'leave: finalizers': [drain('names the finalizer that keeps a pod')],
  'leave: stuck in Terminating': [drain('removes what does not end, only where the settings say so, and tells it')],
  'force: where the settings say so': [
    drain('forces after its time, tells each pod, and only where the settings say so'),
  ],
  'force: not where they do not': [drain('holds after its time where they do not')],
  'volumes: wait until detached': [drain('waits for volumes of pods that left, not for those of pods that stay')],
  'abort: the node is put back': [drain('gives up where they say so, and puts the node back')],
} as const satisfies Readonly<Record<string, Proofs>>

/** By driver, on booted machines: the work fails at its end, and the machine is as it was, or the driver says why it cannot be. */
const taken = (...cases: readonly [string, ...string[]]) =>
  cases.map((name) => ({
    file: `test/conformance/${name}.test.ts`,
    title: 'is taken back to what it was, or says why not',
    suite: 'test/conformance/driver-suite.ts',
  }))

export const undoProofs: Readonly<Record<string, readonly Proof[]>> = {
  profile: taken('quick/profile-files', 'quick/profile-units', 'quick/profile-sysctls'),
  'control-plane': taken('quick/control-plane'),
  jobs: taken('quick/jobs'),
  script: taken('quick/script'),
  packages: taken('quick/packages-apt', 'quick/packages-dnf'),
  kubeadm: taken('quick/kubeadm'),
  runtime: taken('quick/runtime', 'quick/runtime-docker'),
  etcd: taken('quick/etcd'),
  kubectl: taken('quick/kubectl'),
  kubelet: taken('quick/kubelet'),
  osimage: taken('quick/osimage-bootc', 'full/osimage-ostree', 'quick/osimage-rpm-ostree'),
  binary: taken('quick/binary'),
  maintenance: taken('quick/maintenance'),
  reboot: taken('quick/reboot'),
  stamps: taken('quick/stamps'),
}

/** What puts things back without a driver. */
export const putBackProofs = {
  'an image that does not come up': [
    inFile('test/e2e/os-image.test.ts')('an image whose kubelet fails is taken back by the agent'),
  ],
  'an update that is cancelled': [
    inFile('test/apiserver/waves.test.ts')(
      'a node that failed is tried again, and everything is put back when the rest is cancelled',
    ),
  ],
  'an update that is deleted': [
    inFile('test/apiserver/deletion.test.ts')('the DirectUpdate: its nodes are put back and it goes'),
  ],
} as const satisfies Readonly<Record<string, Proofs>>

export const badInputProofs = {
  'a budget that allows nothing': [
    refused("what: 'a budget of none'"),
    inFile('test/apiserver/budgets.test.ts')('that a person uses up allows nothing, and says so at once'),
  ],
  'a selector that matches no node': [
    badInput('created all the same, it is not planned: $reason', "reason: 'NothingSelected'"),
  ],
  'two policies': [inFile('test/apiserver/crds.test.ts')('takes one MaintenancePolicy, named default')],
  'a gate with a wrong query': [
    gates('Prometheus: waits for the number, refuses a wrong query, and fails closed when nobody answers'),
    checkpoints('Cel: a broken expression is refused before anything starts'),
  ],
  'a version below the kubelets': [
    badInput('created all the same, it is not planned: $reason', "reason: 'Downgrade'"),
    preflight('$check: $what', "what: 'a version below the kubelets'"),
  ],
} as const satisfies Readonly<Record<string, Proofs>>
