// Everything the doctor looks at, in the order in which it is told: first whether Slipway is whole, then whether the cluster is.

import type { CheckName, CheckReport } from '../../api/preflight.ts'
import { allChecks } from '../preflight/all-checks.ts'
import { runChecks } from '../preflight/run-checks.ts'
import { type DoctorView, type Finding, looked } from './finding.ts'
import { judgeApi, judgeBackups, judgeCluster, judgePolicy } from './judge-cluster.ts'
import { isInstalled, judgeSlipway } from './judge-slipway.ts'

export interface Examination {
  /** Nothing found keeps Slipway from its work. */
  readonly ready: boolean
  readonly summary: {
    readonly ok: number
    readonly warnings: number
    readonly problems: number
    readonly unknown: number
  }
  readonly findings: readonly Finding[]
}

export function examine(view: DoctorView): Examination {
  const findings = [judgeApi(view), ...judgeSlipway(view), ...ofPolicy(view), ...judgeCluster(view), ...preflight(view)]
  return summed(findings)
}

export function summed(findings: readonly Finding[]): Examination {
  const count = (result: Finding['result']) => findings.filter((one) => one.result === result).length
  const problems = count('Problem')
  return {
    ready: problems === 0,
    summary: { ok: count('Ok'), warnings: count('Warning'), problems, unknown: count('Unknown') },
    findings,
  }
}

function ofPolicy(view: DoctorView): readonly Finding[] {
  if (!isInstalled(view)) return []
  const nodes = 'seen' in view.nodes ? view.nodes.seen : []
  return looked('Policy', view.policy, (policy) => [...judgePolicy(view, policy), ...judgeBackups(view, policy, nodes)])
}

/** What an update of every node would meet before it starts, whatever it does. Agents are judged above. */
function preflight(view: DoctorView): readonly Finding[] {
  const checks = allChecks.filter(({ name }) => name !== 'Agents' && name !== 'PolicyBudgets')
  return looked('Nodes', view.nodes, (nodes) => {
    const states = new Map(('seen' in view.states ? view.states.seen : []).map((state) => [state.metadata.name, state]))
    const policy = 'seen' in view.policy ? view.policy.seen?.spec : undefined
    const { serverVersion, now, sights } = view
    const known = {
      nodes,
      selected: nodes,
      stateOf: (name: string) => states.get(name),
      serverVersion,
      policy,
      now,
      sights,
    }
    const { reports } = runChecks({ spec: {}, ...known }, checks)
    return reports.filter((report) => isInstalled(view) || !isForAgents(report)).map(asFinding)
  })
}

/** Only agents could tell it: before Slipway is there nobody can. */
function isForAgents({ check, result }: CheckReport): boolean {
  return result === 'Unknown' && (check === 'Certificates' || check === 'DiskSpace')
}

function asFinding({ check, result, message }: CheckReport): Finding {
  if (result === 'Passed' || result === 'Skipped') return { check, result: 'Ok', code: check, message }
  const worse = { Warning: 'Warning', Failed: 'Problem', Unknown: 'Unknown' } as const
  return { check, result: worse[result], code: check, message, nextStep: remedies[check] }
}

const remedies: Readonly<Record<CheckName, string>> = {
  Agents: 'look at the agents’ pods',
  VersionPath: 'choose a version that is on offer',
  PackageVersion: 'refresh the repositories of the hosts',
  ApiReady: 'look at the API server: kubectl get --raw "/readyz?verbose"',
  NodesReady: 'bring the nodes back, or delete them: kubectl describe node NAME',
  DiskSpace: 'free space under /var on these hosts',
  MemoryPressure: 'find out what takes the memory: kubectl top node, kubectl describe node NAME',
  VersionSkew: 'bring the oldest component up first',
  TargetRequirements: 'bring these hosts up to what the target asks for',
  KubeletFlags: 'take the flag out of the files named',
  RemovedApis: 'move the clients and objects named to the newer API',
  DisruptionBudgets: 'add replicas, or relax the budget',
  PodsUnderTwoBudgets: 'let each pod be under one PodDisruptionBudget',
  Capacity: 'add a node, or ask for less in the pods named',
  Certificates:
    'renew them as the check says (kubeadm certs renew all does not renew an authority), then restart the control plane',
  Sources: 'correct the sources of these hosts',
  Bundle: 'make the bundle anew: slipway bundle create FOLDER -o FILE',
  ClockSkew:
    'let the hosts, and this machine, take the time from the same servers, and the kubelets renew their Leases',
  ControlPlaneEndpoint: 'let the kubelet of each control plane talk to its own API server',
  Webhooks: 'bring the webhook’s pods back, or give it failurePolicy Ignore',
  PolicyBudgets: 'wait, or raise the budgets of MaintenancePolicy/default',
}
