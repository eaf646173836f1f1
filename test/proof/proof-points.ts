// What is claimed, how it is shown, and what the last run of it said. Figures come from docs/proof only.

import { faultTable } from './fault-table.ts'
import type { Result, ResultName, Results } from './results.ts'

export interface ProofPoint {
  readonly title: string
  readonly claim: string
  readonly shown: string
  readonly commands: readonly string[]
  /** Undefined: not run yet. */
  readonly figures: readonly string[] | undefined
  readonly table?: readonly string[]
  readonly limits: string
}

/** Where and when it was measured. */
function source({ date, commit }: Result<ResultName>, earlierCommits: readonly string[] = []): string {
  const before = earlierCommits.length === 0 ? '' : `, begun on ${earlierCommits.join(', ')}`
  return `${date}, commit ${commit}${before}`
}

const number = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 1 })

/** Beside its limit: a figure that just misses it must not read like it. */
const precise = (value: number) => value.toLocaleString('en-US', { maximumSignificantDigits: 4 })

const percent = (part: number, whole: number) => (whole === 0 ? 'none to count' : `${number((100 * part) / whole)} %`)

const duration = (seconds: number) => (seconds < 120 ? `${number(seconds)} s` : `${number(seconds / 60)} minutes`)

/** Figures, last of them where and when they were measured. */
function measured<R extends Result<ResultName>>(
  result: R | undefined,
  figures: (result: R) => readonly string[],
): readonly string[] | undefined {
  if (!result) return undefined
  const earlier = 'earlierCommits' in result ? result.earlierCommits : []
  return [...figures(result), source(result, earlier)]
}

export function proofPoints(results: Results): readonly ProofPoint[] {
  return [
    faultRuns(results),
    exhaustive(results),
    preview(results),
    why(results),
    apiServer(results),
    requests(results),
    speed(results),
  ]
}

function faultRuns({ 'fault-runs': result }: Results): ProofPoint {
  return {
    title: 'Whatever goes wrong, no rule is broken',
    claim:
      'The [rules](architecture.md#what-the-simulator-checks) hold after every write, and every update comes to its right end.',
    shown:
      'The real operator and agents run on a cluster in memory, on a virtual clock. A seed draws the cluster, the update and its trouble: processes that die at any read, write or disk operation, answers that are lost or late, watches that break or fall silent, outages, machines that die, clocks that are wrong. Every kind of trouble is combined with every other. A list of planted bugs shows that the checks can fail.',
    commands: ['make fault-runs RUNS=500000'],
    figures: measured(result, (r) => [
      `${number(r.runs)} runs, seeds ${r.seeds.first} to ${r.seeds.last}: ${number(r.violations)} broke a rule`,
      `${number(r.pairs.struck)} of ${number(r.pairs.all)} pairs of faults struck in one run, ${number(r.pairs.impossible)} cannot`,
      `${number(r.runs / r.cpuSeconds)} runs a second and core`,
    ]),
    ...(result && { table: faultTable(result.faults) }),
    limits:
      'A simulator knows what it was taught; one suite of contracts holds it against a real API server. Restores of etcd are not drawn.',
  }
}

function exhaustive({ exhaustive: result }: Results): ProofPoint {
  return {
    title: 'Killed anywhere, even twice',
    claim: 'In a small cluster the operator or an agent may be killed at any point, and again at any later point.',
    shown:
      'One run without trouble counts the points at which a process can be killed. Each is then replayed with the process killed there, and each of those once more for every point that follows. Nothing is sampled.',
    commands: ['make exhaustive'],
    figures: measured(result, (r) => [
      `${number(r.nodes)} nodes; points: ${Object.entries(r.points)
        .map(([process, points]) => `${process} ${number(points)}`)
        .join(', ')}`,
      `${number(r.singles)} histories with one crash, ${number(r.pairs)} with two${
        r.folded === 0 ? '' : `, ${number(r.folded)} of which provably go on as another does`
      }: ${number(r.violations)} broke a rule`,
      `${duration(r.cpuSeconds)} of processor time`,
    ]),
    limits: 'One cluster and one update, chosen small; crashes only, no other trouble.',
  }
}

function preview({ preview: result }: Results): ProofPoint {
  return {
    title: 'The plan is right',
    claim: 'What `slipway plan` calls certain happens, and nothing holds an update up that it did not name.',
    shown:
      'Clusters are invented, planned from a snapshot, and the update is then carried out with other chances, other times of pods and another scheduler, some of them on a real API server with the real controllers.',
    commands: ['make proof-preview'],
    figures: measured(result, (r) => [
      `${number(r.clusters)} clusters, ${number(r.realClusters)} of them on a real API server, seeds ${r.seeds.first} to ${r.seeds.last}`,
      `${number(r.blocks)} blocks happened: ${percent(r.calledCertain, r.blocks)} were called certain (at least 80 %), ${number(r.unpredicted)} were not predicted (none)`,
      `${number(r.certainCalls)} were called certain: ${number(r.certainThatDidNotHappen)} did not happen (none)`,
      `${number(r.possibleCalls)} were called possible: ${percent(r.possibleThatHappened, r.possibleCalls)} happened (at least 30 %)`,
      `${number(r.otherWaves)} clusters had other waves than planned (none); of ${number(r.placesCalledCertain)} places in the order that were called certain ${number(r.otherOrder)} went to another node (none)`,
    ]),
    limits: 'Clusters are invented. Gates that ask other servers cannot be rehearsed, and the plan names them.',
  }
}

function why({ why: result }: Results): ProofPoint {
  return {
    title: '`slipway why` names the true cause',
    claim: 'Whatever an update, a node or a pod waits for, one sentence names its cause and the next step.',
    shown: 'Situations are brought about in a simulated cluster, then the command is asked as a person would ask it.',
    commands: ['make proof-why'],
    figures: measured(result, (r) => [
      `${number(r.situations)} situations, ${number(r.questions)} questions, each answered with its cause`,
      `${number(r.codesAsked)} of ${number(r.codes)} [codes](reference/reasons.md) with which something can wait were the answer`,
    ]),
    limits: 'One cause at a time; where several hold, the one that comes first is told.',
  }
}

function apiServer({ 'api-server': result }: Results): ProofPoint {
  return {
    title: 'The limit holds on a real API server',
    claim: 'However many writers race for the budget, no more nodes are away than it allows.',
    shown:
      'Updates, a profile, reboots by sentinel and a stranger with kured’s lock compete on a real kube-apiserver. It is stopped in the middle, the lease is stolen, the old leader frozen and woken. A program that shares no code with Slipway counts the nodes that are away; the audit log is the second witness.',
    commands: ['make proof-apiserver'],
    figures: measured(result, (r) => [
      `${number(r.nodes)} nodes, seed ${r.seed}, ${r.writers.length} writers: ${r.writers.join(', ')}`,
      `at most ${number(r.limit)} nodes may be away; ${number(r.maximumByWatch)} were by the watch, ${number(r.maximumByAudit)} by the audit log`,
      `API server away for ${duration(r.outageSeconds)}, ${number(r.requests)} requests, ${duration(r.seconds)} in all`,
    ]),
    limits: 'The machines are pretended; booted ones are in the next point.',
  }
}

function requests({ requests: one, 'requests-ha': several }: Results): ProofPoint {
  const runs = [one, several].filter((run) => run !== undefined)
  return {
    title: 'No request is lost',
    claim:
      'A service with two replicas, a PodDisruptionBudget and a preStop delay answers every request while its cluster goes to the next minor version.',
    shown:
      'kubeadm clusters on booted machines, one DirectUpdate, and a client that asks ten times a second on a new connection each time.',
    commands: ['make e2e', 'make e2e-full'],
    figures:
      runs.length === 0
        ? undefined
        : runs.map(
            (run) =>
              `${run.controlPlanes} control planes and ${run.workers} workers, ${run.replicas} replicas: ${number(run.requests)} requests in ${duration(run.seconds)}, ${number(run.failed)} failed (\`${run.command}\`, ${source(run)})`,
          ),
    limits:
      'Without the preStop delay requests are lost while the word spreads that a pod ends; that is so with any drain.',
  }
}

/** Of docs/scale.md. */
export function scalePoints(results: Results): readonly ProofPoint[] {
  return [largePlan(results), speed(results)]
}

function largePlan({ 'large-plan': result }: Results): ProofPoint {
  return {
    title: 'A plan for ten thousand nodes',
    claim: '`slipway plan` answers for a cluster of this size on a laptop.',
    shown:
      'A cluster with thirty pods a node, every fifth Deployment with a PodDisruptionBudget, planned from its snapshot.',
    commands: ['make proof-scale'],
    figures: measured(result, (plan) => [
      `${number(plan.nodes)} nodes, ${number(plan.pods)} pods: planned in ${duration(plan.seconds)}, ${number(Math.round(plan.mostMiB))} MiB at most`,
      `${number(plan.rehearsed)} nodes rehearsed ${number(plan.rehearsals)} times, the rest looked at; verdict: ${plan.verdict}`,
      `predicted: ${duration(plan.predictedSeconds.expected)} (${duration(plan.predictedSeconds.least)} to ${duration(plan.predictedSeconds.most)}), ${plan.waves.map(({ title, nodes }) => `${title} ${number(nodes)}`).join(', ')}`,
    ]),
    limits: 'The cluster is invented, and its Deployments are alike.',
  }
}

function speed({ bench: result }: Results): ProofPoint {
  return {
    title: 'What it costs',
    claim: 'Each figure has its limit; one that misses it says so.',
    shown: 'Each is measured by itself, by the clock on the wall or as the API server counts.',
    commands: ['make bench'],
    figures: measured(result, ({ figures, cores }) => [
      ...figures.map(
        ({ what, measured: value, unit, wanted, met }) =>
          `${what}: ${precise(value)}${unit && ` ${unit}`} (wanted ${wanted})${met ? '' : ' **missed**'}`,
      ),
      `${number(cores)} cores`,
    ]),
    limits: 'Times are those of one machine.',
  }
}
