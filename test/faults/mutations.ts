// Small bugs for each rule and for what runs must come to: each must be caught by the fault runs.

import type { Edit } from './plant.ts'

export interface Mutation {
  readonly name: string
  /** The rule that must be reported broken. */
  readonly rule: string
  /** Where it showed last: looked at first. */
  readonly seed?: number
  readonly edits: readonly Edit[]
}

export const mutations: readonly Mutation[] = [
  {
    name: 'a budget lets one node too many away',
    rule: '1',
    seed: 1,
    edits: [
      {
        file: 'src/core/ledger/tally.ts',
        find: 'count + 1 <= budget.maxUnavailable',
        replace: 'count <= budget.maxUnavailable',
      },
    ],
  },
  {
    name: 'a control plane goes over a minor version',
    rule: '3',
    seed: 20,
    edits: [
      {
        file: 'src/core/versions/find-path.ts',
        find: 'if (!from || minorsBetween(from, target) <= 1) return { versions: [] }',
        replace: 'if (!from || minorsBetween(from, target) <= 2) return { versions: [] }',
      },
    ],
  },
  {
    name: 'the next step of a path begins before this one is done',
    rule: '3',
    seed: 20,
    edits: [
      {
        file: 'src/operator/update/running-operation.ts',
        find: '!this.table.isAllDone || this.#slots.heldBy(this.id) > 0) return false',
        replace: 'this.table.counts.failed > 0) return false',
      },
    ],
  },
  {
    name: 'the lock of another tool is not taken first',
    rule: '1',
    seed: 1,
    edits: [
      {
        file: 'src/operator/ledger/grant-pass.ts',
        find: 'const { areOurs, closed, isToTryAgain } = this.#locks.standing()',
        replace: 'const { areOurs, closed, isToTryAgain } = { ...this.#locks.standing(), areOurs: true }',
      },
    ],
  },
  {
    name: 'a slot is returned while the order may still run',
    rule: '1',
    seed: 27,
    edits: [
      {
        file: 'src/core/node/decide-node.ts',
        find: 'grant.holder) && !hasStopped(order, state)',
        replace: 'grant.holder) && false',
      },
      {
        file: 'src/core/node/lost-record.ts',
        find: 'underWay.has(agent.order.state)',
        replace: 'underWay.has(agent.order.state) && false',
      },
    ],
  },
  {
    name: 'two control-plane nodes at once',
    rule: '2',
    seed: 8,
    edits: [
      {
        file: 'src/core/ledger/grants.ts',
        find: 'if (others.length === 0) return',
        replace: 'if (others.length < 2) return',
      },
      {
        file: 'src/operator/update/running-operation.ts',
        find: 'this.table.inControlPlaneWave ? 1 :',
        replace: 'this.table.inControlPlaneWave ? 2 :',
      },
    ],
  },
  {
    name: 'a control-plane node leaves whatever the others say of etcd',
    rule: '2',
    seed: 258,
    edits: [
      {
        file: 'src/core/control-plane/may-leave.ts',
        find: 'return judgeEtcd(name, nodes, apiAway) ?? judgeServers(name, nodes)',
        replace: 'return judgeEtcd(name, [], apiAway) && undefined',
      },
    ],
  },
  {
    name: 'a step takes a member of etcd away while another is down',
    rule: '2',
    seed: 202,
    edits: [
      {
        file: 'src/agent/control-plane/step-obstacle.ts',
        find: 'return await peerObstacle(context, requests, signal)',
        replace: 'return (await peerObstacle(context, requests, signal)) && undefined',
      },
    ],
  },
  {
    name: 'the kubelet before its own API server',
    rule: '3',
    seed: 1,
    edits: [
      {
        file: 'src/agent/drivers/rehearsal-kubernetes.ts',
        find: "role === 'ControlPlane'",
        replace: "role !== 'ControlPlane'",
      },
    ],
  },
  {
    name: 'a restarted agent starts a second copy of a running step',
    rule: '4',
    seed: 22,
    edits: [
      {
        file: 'src/agent/step-runner.ts',
        find: 'let last: Attempt | undefined = begun && {',
        replace: 'let last: Attempt | undefined = begun && undefined && {',
      },
    ],
  },
  {
    name: 'success is told before the step has ended',
    rule: '5',
    seed: 3,
    edits: [
      {
        file: 'src/agent/step-runner.ts',
        find: 'const state = await host.look(begun.process, result)',
        replace: "const state = { state: 'exited', exitCode: 0 } as const",
      },
    ],
  },
  {
    name: "a person's cordon is taken for ours",
    rule: '6',
    seed: 9,
    edits: [
      {
        file: 'src/core/node/node-marks.ts',
        find: 'const isOurs = cordonOwner(node) !== undefined',
        replace: 'const isOurs = isCordoned(node)',
      },
    ],
  },
  {
    name: 'pods are deleted instead of evicted',
    rule: '7',
    seed: 1,
    edits: [
      {
        file: 'src/operator/drain/requests.ts',
        find: 'this.#ports.api.evict({ name, namespace }, { uid, ...grace }, signal)',
        replace: 'this.#ports.api.delete(pods, { name, namespace }, { ...grace, gracePeriodSeconds: 0 }, signal)',
      },
    ],
  },
  {
    name: 'an emergency stop is overlooked',
    rule: '8',
    seed: 24,
    edits: [
      {
        file: 'src/core/ledger/grants.ts',
        find: 'return this.#view.paused ?',
        replace: 'return this.#view.paused && false ?',
      },
    ],
  },
  {
    name: 'an emergency stop that comes between decision and write is overlooked',
    rule: '8',
    seed: 3477,
    edits: [
      {
        file: 'src/operator/ledger/grant-pass.ts',
        find: 'paused: policy.spec.paused === true',
        replace: 'paused: this.#cluster.policy?.spec.paused === true',
      },
    ],
  },
  {
    name: 'windows and freezes are overlooked',
    rule: '8',
    seed: 15,
    edits: [
      {
        file: 'src/core/ledger/grants.ts',
        find: 'const shut = pass.stopped ?? closed?.()',
        replace: 'const shut = pass.stopped ?? (closed && undefined)',
      },
    ],
  },
  {
    name: 'a window is taken to be open longer than it is',
    rule: '8',
    seed: 15,
    edits: [
      {
        file: 'src/core/time/window.ts',
        find: 'parseDuration(spec.duration)) }',
        replace: '2 * parseDuration(spec.duration)) }',
      },
    ],
  },
  {
    name: 'failed nodes do not stop the next',
    rule: '10',
    seed: 15,
    edits: [
      {
        file: 'src/operator/update/running-operation.ts',
        find: '  #stop(): Reason | undefined {',
        replace: '  #stop(): Reason | undefined {\n    if (Date.now() > 0) return undefined',
      },
    ],
  },
  {
    name: 'a ledger made anew starts at an old epoch',
    rule: '11',
    seed: 13,
    edits: [{ file: 'src/operator/ledger/ledger-book.ts', find: 'epoch: this.#epoch + 1 }', replace: 'epoch: 0 }' }],
  },
  {
    name: 'workers before the control plane is done',
    rule: '3',
    seed: 1,
    edits: [
      {
        file: 'src/operator/update/member-table.ts',
        find: 'return this.#tally.isControlPlaneOpen',
        replace: 'return this.#tally.isControlPlaneOpen && false',
      },
      {
        file: 'src/operator/update/running-operation.ts',
        find: 'return kubeletCeiling(',
        replace: 'return undefined && kubeletCeiling(',
      },
    ],
  },
  {
    name: 'what ended well while the agent was dead is not believed',
    rule: '4',
    seed: 70,
    edits: [
      {
        file: 'src/agent/step-runner.ts',
        find: 'if (!failed) {',
        replace: 'if (!failed && adopted) return { tally: begun, failed }\n  if (!failed) {',
      },
    ],
  },
  {
    name: 'a step that failed counts as done',
    rule: '5',
    seed: 15,
    edits: [
      {
        file: 'src/agent/step-runner.ts',
        find: 'const failed = await judge(run, begun, ending, signal)',
        replace: 'const failed = (await judge(run, begun, ending, signal)) && undefined',
      },
    ],
  },
  {
    name: 'marks that were there before us are taken off',
    rule: '6',
    seed: 12,
    edits: [
      {
        file: 'src/core/node/node-marks.ts',
        find: 'const quiet = quietAnnotations.filter((key) => marks.includes(key))',
        replace: 'const quiet = quietAnnotations',
      },
    ],
  },
  {
    name: 'force where no settings say so',
    rule: '7',
    seed: 364,
    edits: [
      {
        file: 'src/core/drain/judge-pod.ts',
        find: 'const forceMs = forceFrom(rule, drain, view.times)',
        replace: 'const forceMs = forceFrom(rule, drain, view.times) ?? view.times.sinceMs + 60_000',
      },
    ],
  },
  {
    name: 'a failed node is put back',
    rule: '10',
    seed: 15,
    edits: [
      {
        file: 'src/core/node/decide-node.ts',
        find: 'if (isAborted(rollout) && !isPutBack(view.node))',
        replace: 'if (!isPutBack(view.node))',
      },
    ],
  },
  {
    name: 'a gate before nodes is overlooked',
    rule: 'gate',
    seed: 100,
    edits: [
      {
        file: 'src/operator/gates/checkpoints.ts',
        find: "return verdict.state === 'passed' ? undefined : verdict.reason",
        replace: 'return verdict && undefined',
      },
    ],
  },
  {
    name: 'a gate after nodes is overlooked',
    rule: 'gate',
    seed: 1,
    edits: [
      {
        file: 'src/core/node/decide-node.ts',
        find: "if (view.gates.state === 'passed') return undefined",
        replace: 'if (view.gates) return undefined',
      },
    ],
  },
  {
    name: 'nodes that failed are waited for as if they came back',
    rule: 'liveness',
    seed: 946,
    edits: [
      {
        file: 'src/core/ledger/tally.ts',
        find: 'return isBroken !== undefined && names.every',
        replace: 'return isBroken === undefined && names.every',
      },
    ],
  },
  {
    name: 'a gate takes every answer for a good one',
    rule: 'gate',
    seed: 174,
    edits: [
      {
        file: 'src/core/gates/judge-answers.ts',
        find: 'status >= 200 && status < 300',
        replace: 'status >= 200',
      },
    ],
  },
  {
    name: 'a hook is not cleaned up',
    rule: 'hook',
    seed: 5,
    edits: [
      {
        file: 'src/core/hooks/decide-hooks.ts',
        find: 'return runs?.some(({ cleanup })',
        replace: 'return runs?.slice(1).some(({ cleanup })',
      },
    ],
  },
  {
    name: 'a profile is applied without its files',
    rule: 'profile',
    seed: 20,
    edits: [
      {
        file: 'src/agent/drivers/files/managed-file.ts',
        find: "if (look.kind === 'none') return `",
        replace: "if (look.kind === 'none') return undefined && `",
      },
    ],
  },
  {
    name: 'a node that is to be left out is not',
    rule: 'work',
    seed: 35,
    edits: [
      {
        file: 'src/core/update/standing.ts',
        find: "if (operation.skip?.has(name)) return 'skipped'",
        replace: '',
      },
      { file: 'src/core/node/start-node.ts', find: ' || isLeftOut(node, operation)', replace: '' },
    ],
  },
  {
    name: 'a backup counts however old it is',
    rule: '9',
    seed: 76,
    edits: [
      {
        file: 'src/core/backup/need.ts',
        find: 'Math.abs(now.getTime() - Date.parse(backup.at)) <= maxAgeMs',
        replace: 'Math.abs(now.getTime() - Date.parse(backup.at)) <= maxAgeMs + 86_400_000',
      },
    ],
  },
  {
    name: 'nobody asks for a backup',
    rule: '9',
    seed: 11,
    edits: [
      {
        file: 'src/core/ledger/grants.ts',
        find: 'request.lastly?.()',
        replace: 'undefined',
      },
    ],
  },
  {
    name: 'what a tag was found to name is forgotten',
    rule: 'beside',
    seed: 6,
    edits: [
      {
        file: 'src/core/image/resolved-image.ts',
        find: 'return status?.operationID === operationID ? status.osImage : undefined',
        replace: 'return status?.operationID === operationID ? undefined : status?.osImage',
      },
    ],
  },
  {
    name: 'an update asks for itself again at once, whatever it waits for',
    rule: 'spin',
    seed: 2,
    edits: [
      {
        file: 'src/operator/update/update-controller.ts',
        find: 'return Number.isFinite(first) ? { afterMs: Math.max(1, first - now.getTime()) } : undefined',
        replace: 'return { afterMs: Number.isFinite(first) ? Math.max(1, first - now.getTime()) : 1 }',
      },
    ],
  },
  {
    name: 'the labels of Housekeeper outlast its Update',
    rule: 'liveness',
    seed: 350,
    edits: [
      {
        file: 'src/operator/compat/housekeeper-labels.ts',
        find: "phase === 'Succeeded' || phase === 'Cancelled') return undefined",
        replace: "phase === 'Cancelled') return undefined",
      },
    ],
  },
]
