// Small bugs, one or two for each rule that applies so far: each must be caught by the fault runs. Rule 9 speaks of backups,
// which nothing takes yet.

export interface Mutation {
  readonly name: string
  /** The rule that must be reported broken. */
  readonly rule: string
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
}

export const mutations: readonly Mutation[] = [
  {
    name: 'a budget lets one node too many away',
    rule: '1',
    edits: [
      {
        file: 'src/core/ledger/tally.ts',
        find: 'count + 1 <= budget.maxUnavailable',
        replace: 'count <= budget.maxUnavailable',
      },
    ],
  },
  {
    name: 'the lock of another tool is not taken first',
    rule: '1',
    edits: [
      {
        file: 'src/operator/ledger/grant-pass.ts',
        find: 'const { areOurs, closed } = this.#locks.standing()',
        replace: 'const { areOurs, closed } = { ...this.#locks.standing(), areOurs: true }',
      },
    ],
  },
  {
    name: 'a slot is returned while the order may still run',
    rule: '1',
    edits: [
      {
        file: 'src/core/node/decide-node.ts',
        find: 'grant.holder) && !hasStopped(order, state)',
        replace: 'grant.holder) && false',
      },
    ],
  },
  {
    name: 'two control-plane nodes at once',
    rule: '2',
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
    edits: [
      { file: 'src/core/ledger/grants.ts', find: 'if (paused) return {', replace: 'if (paused && false) return {' },
    ],
  },
  {
    name: 'an emergency stop that comes between decision and write is overlooked',
    rule: '8',
    edits: [
      {
        file: 'src/operator/ledger/grant-pass.ts',
        find: 'paused: policy.spec.paused === true',
        replace: 'paused: this.#cluster.policy?.spec.paused === true',
      },
    ],
  },
  {
    name: 'failed nodes do not stop the next',
    rule: '10',
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
    edits: [{ file: 'src/operator/ledger/ledger-book.ts', find: 'epoch: this.#epoch + 1 }', replace: 'epoch: 0 }' }],
  },
]
