// What people complain of most about tools that take nodes away, heaviest first, and what Slipway answers.

/** A test by its file and a title that stands there: its own, or that of the group it is in. */
interface NamedTest {
  readonly file: string
  readonly title: string
}

export interface Complaint {
  readonly complaint: string
  readonly answer: string
  readonly tests: readonly NamedTest[]
  /** Why the answer is not whole; the tests, if any, show the part that is there. */
  readonly notYet?: string
}

const inScenario = (name: string, title: string): NamedTest => ({ file: `test/scenario/${name}.test.ts`, title })
const onApiServer = (name: string, title: string): NamedTest => ({ file: `test/apiserver/${name}.test.ts`, title })
const onMachines = (file: string, title: string): NamedTest => ({ file: `test/e2e/${file}.ts`, title })

export const complaints: readonly Complaint[] = [
  {
    complaint: 'A drain hangs for ever on a PodDisruptionBudget, and nobody says on which',
    answer: 'the reason names pod, workload, budget and what keeps it from allowing',
    tests: [
      inScenario('drain', 'held up by a PodDisruptionBudget names it, and goes on when it allows'),
      onApiServer('drain', 'names workload, budget and the pod that keeps it'),
    ],
  },
  {
    complaint: 'Nodes are left cordoned after a failure',
    answer:
      'a failed node says so until it is retried, released or its update deleted; what nobody owns is put right within a minute',
    tests: [
      inScenario('failure', 'deleting the update puts the node back'),
      inScenario('janitor', 'nothing of ours is left a minute after the work has ended'),
      onApiServer('deletion', 'the DirectUpdate: its nodes are put back and it goes'),
    ],
  },
  {
    complaint: 'Whose cordon is it? A person’s own is removed',
    answer: 'only a cordon that carries our mark is removed; `slipway hold` keeps a node during our work, too',
    tests: [
      inScenario('cordon', 'made before the update survives it'),
      inScenario('marks', 'during our work stays cordoned after it, until it is released'),
    ],
  },
  {
    complaint: 'A lock is held by a node that no longer exists; the autoscaler interferes',
    answer: 'a slot ends with its Node, and autoscalers are told to leave a node alone in the write that cordons it',
    tests: [
      inScenario('marks', 'autoscalers are told to leave it, in the write that cordons it'),
      onApiServer('deletion', 'a Node under work: the others are done, and a new one of that name is another machine'),
    ],
  },
  {
    complaint: 'Nothing looks at the health of anything before or between nodes',
    answer: 'gates before and after a node, after a wave and while it soaks; who does not answer has not passed',
    tests: [
      inScenario('gates', 'keeps every node untouched until it holds'),
      onApiServer(
        'gates',
        'Prometheus: waits for the number, refuses a wrong query, and fails closed when nobody answers',
      ),
    ],
  },
  {
    complaint: 'A node that never comes back is not noticed',
    answer: 'it keeps its slot, calls for a person when its time is over, and no other is taken meanwhile',
    tests: [
      inScenario('never-back', 'a machine that does not return from its work calls for a person'),
      inScenario('never-back', 'a kubelet that does not return calls for a person'),
    ],
  },
  {
    complaint: 'No safe way back; an automatic one broke etcd',
    answer:
      'drivers undo what can be undone and say from where on nothing can; past a change of etcd’s data nothing is reverted',
    tests: [
      { file: 'src/agent/undo-plan.test.ts', title: 'what is undone' },
      onMachines('os-image.test', 'an image whose kubelet fails is taken back by the agent'),
      onMachines('packages-driver.test', 'takes all updates, says what was kept back, and goes back'),
    ],
  },
  {
    complaint: 'Maintenance windows are too weak: one only, start only, no time zone, no freeze',
    answer:
      'any number of windows by days or cron, in a zone, for kinds of work; freezes with a reason; nothing is begun that would not be done in time',
    tests: [
      inScenario('windows', 'nothing starts before the window opens'),
      inScenario('windows', 'what would not be done before it closes is not begun'),
      inScenario('windows', 'a freeze holds all, and says why; a person may go on'),
    ],
  },
  {
    complaint: 'No way to run now, attended, outside the window',
    answer: '`slipway run-now` lets one run go on at any time, with who, when and why on record',
    tests: [inScenario('windows', 'a freeze holds all, and says why; a person may go on')],
  },
  {
    complaint: 'No hooks, none that can say no, no approval before a node goes',
    answer:
      'Jobs or HTTP calls before and after update, wave and node, any of which can refuse; waves that wait for `slipway approve`',
    tests: [
      inScenario('hooks', 'refuse it: it is not touched'),
      onApiServer('gates', 'HTTP hooks: one key for each call, and the node is not touched when one is refused'),
      onApiServer('waves', 'the canary alone, until its soak is over and a person has approved'),
    ],
  },
  {
    complaint: 'It does not wait until storage has healed and volumes are detached',
    answer: 'a drain ends when its volumes are detached; recipes for Ceph, Longhorn and CloudNativePG',
    tests: [
      onApiServer('drain', 'waits for volumes of pods that left, not for those of pods that stay'),
      onApiServer('gates', 'the recipes of docs/gates.md'),
    ],
  },
  {
    complaint: '“Why is nothing happening?”',
    answer: '`slipway why` answers in one sentence with the cause and what to do',
    tests: [
      inScenario('why', 'knows every code with which something can wait'),
      inScenario('telling', 'never, of one that goes on as it should, that it is blocked or stalled'),
    ],
  },
  {
    complaint: 'No metrics, no progress, nobody says who holds the lock',
    answer:
      'more than fifty series, alerts with runbooks and a dashboard; progress, reasons and who holds a slot stand in the status, and an audit record tells the rest',
    tests: [
      inScenario('metrics', 'every series of the catalogue was seen to change'),
      inScenario('audit', 'tells who asked, who approved, and what became of each node'),
      onApiServer('monitoring', 'every query gives values, from a Prometheus that scrapes an operator'),
      onApiServer('crds', 'shows how far an update is'),
    ],
  },
  {
    complaint: 'The evidence is deleted with the Job',
    answer: 'journal and logs stay on the host and can be read from afar; an edited update keeps its history',
    tests: [
      inScenario('overlap', 'after its end starts a new operation and keeps the history'),
      onMachines('host-story', 'logs of a step can be read from afar, as tail and as a whole'),
    ],
  },
  {
    complaint: 'Races break the limit on nodes at once',
    answer: 'a slot is a compare-and-swap on one object before a node is touched',
    tests: [
      inScenario('ledger', 'spends no slot of the new one, whichever write it was frozen at'),
      onApiServer('five-writers', 'never pass the limit, whoever is frozen, robbed or cut off'),
    ],
  },
  {
    complaint: 'Two tools, or two resources, each take “one” node',
    answer: 'one ledger for all there is; every unavailable node counts; kured’s lock is taken and honoured',
    tests: [
      inScenario('not-ready', 'counts against the budget of all the others'),
      inScenario('one-drain', 'one drain for all that waits for a node'),
      onApiServer('budgets', 'its lock is taken and released by a stranger while an update runs: never both at work'),
    ],
  },
  {
    complaint: 'No say in the order of nodes',
    answer: 'control plane first, then the nodes you name, then by weight, then zone by zone; waves by size',
    tests: [
      inScenario('waves', 'those named come first, then heavier ones, then zone by zone'),
      inScenario('waves', 'each wave ends before the next begins'),
    ],
  },
  {
    complaint: 'No limits in percent or per zone',
    answer: 'budgets by count or percent, for the cluster, each value of a label, or a selector',
    tests: [
      inScenario('budgets', 'lets one node of each be away, and two of none'),
      onApiServer('budgets', 'for each zone: never two of one, and both at a time'),
    ],
  },
  {
    complaint: 'Too slow for large fleets, and it starts from zero the next time',
    answer: 'as many at once as the budgets allow, staged before they are drained; what is done stays done',
    tests: [
      inScenario(
        'operator-crash',
        'at each of its writes, before or after it took effect: every node is done exactly once',
      ),
      onMachines('upgrade-story', 'the same again changes nothing'),
    ],
  },
  {
    complaint: 'No staged roll-out across clusters and rings',
    answer: 'waves within one cluster',
    notYet:
      'not planned: an operator knows its own cluster only; the tool that keeps your manifests can order clusters',
    tests: [inScenario('waves', 'each wave ends before the next begins')],
  },
  {
    complaint: 'No way to pin a version, wait some days and drive it from Git',
    answer:
      'an update names its version, exactly or by a pattern that is resolved once; a ScheduledUpdate waits for its day; an edit of a finished update, as tools that follow a repository make it, is carried out',
    tests: [
      inScenario('schedules', 'with a pinned version waits for its day and takes that one, and an edit the next'),
      inScenario('versions', 'latest-patch, and all run it: over, with nothing touched'),
    ],
  },
  {
    complaint: 'A failure is sticky; steps cannot be run twice',
    answer:
      '`slipway retry`, nothing to delete; every step looks for its effect first, and is tried killed and without power',
    tests: [
      inScenario('stop-and-go', 'after a failure: the node is tried again and the others follow'),
      onApiServer('waves', 'a node that failed is tried again, and everything is put back when the rest is cancelled'),
    ],
  },
  {
    complaint: 'The agent of one node can attack the whole cluster',
    answer:
      'the operator drains; of all that an API server can be asked, an agent’s token reaches the report of its own node to write, and orders to read: [threat model](threat-model.md)',
    tests: [
      onApiServer('red-team', 'in the end its own report is all that changed'),
      onApiServer('host-service', 'has no more than before but its orders, their contents, and its own report'),
      onApiServer('secrets', 'none of them stands anywhere'),
    ],
  },
  {
    complaint: 'Planned reboots set off alerts',
    answer:
      'a silence for each node under work, short and prolonged while the work goes on: it is ended when the work fails and lapses when nobody is left to end it',
    tests: [
      inScenario('silences', 'is silent while it is, and not a moment longer'),
      inScenario('silences', 'rings again by itself when the operator is gone'),
      onApiServer('monitoring', 'are set, prolonged, found again and ended, and mute the alerts of their node only'),
    ],
  },
  {
    complaint: 'A workload of one replica is down while it moves',
    answer: 'its pod is evicted as its budget says, and `slipway plan` tells of pods that have nowhere to go',
    notYet: 'not planned: to start a second replica first would change workloads that are not ours',
    tests: [inScenario('plan', 'tells of pods that have only one node to go to')],
  },
]
