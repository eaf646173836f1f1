// The real operator and the real agents on a simulated cluster, with every write and job held against the rules.

import { runAgent } from '../../agent/agent.ts'
import { controlPlaneReporter } from '../../agent/control-plane/control-plane-reporter.ts'
import { etcdObstacle } from '../../agent/control-plane/step-obstacle.ts'
import { controlPlaneDriver } from '../../agent/drivers/control-plane/control-plane-driver.ts'
import type { Driver } from '../../agent/drivers/driver.ts'
import { rehearsalDrivers } from '../../agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../agent/drivers/script.ts'
import type { SideTask } from '../../agent/side-task.ts'
import { runOperator } from '../../operator/operator.ts'
import type { OperatorMetrics } from '../../operator/operator-metrics.ts'
import type { Audit } from '../../ports/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Random } from '../../ports/random.ts'
import type { Registry } from '../../ports/registry.ts'
import type { Sealing } from '../../ports/sealing.ts'
import type { Web } from '../../ports/web.ts'
import type { Execution } from '../../sim/pretend-host.ts'
import { requestsOf } from '../../sim/process-host.ts'
import type { Slack } from '../../sim/rules/rule.ts'
import { RuleChecker } from '../../sim/rules/rule-checker.ts'
import { SimCluster, type SimClusterOptions } from '../../sim/sim-cluster.ts'
import { operatorNamespace } from '../../sim/workloads.ts'
import { type PretendStores, pretendBackups } from './pretend-backups.ts'

export interface SimulatedCluster {
  readonly cluster: SimCluster
  readonly rules: RuleChecker
}

export interface SimulationOptions extends Omit<SimClusterOptions, 'programs' | 'startAgent' | 'onExecution'> {
  readonly log: Log
  readonly version: string
  readonly slack: Slack
  /** What the agent of a node can do, asked whenever it starts; by default scripts and pretended Kubernetes upgrades. */
  readonly driversOf?: (node: string, tools: AgentTools) => readonly Driver[]
  /** What agents do besides their orders. */
  readonly sideTasks?: readonly SideTask[]
  /** The backup stores of the cluster; by default everything can be stored. */
  readonly stores?: PretendStores
  readonly sealing?: Sealing
  /** Nodes on which no agent runs. */
  readonly withoutAgent?: (node: string) => boolean
  /** Where the operator runs. */
  readonly namespace?: string
  readonly web?: Web
  readonly registry?: Registry
  readonly metrics?: OperatorMetrics
  readonly audit?: Audit
}

export interface AgentTools {
  readonly clock: Clock
  readonly random: Random
}

export function simulatedCluster(options: SimulationOptions): SimulatedCluster {
  const { slack, ...rest } = options
  const cluster: SimCluster = slipwayCluster(rest, (execution) => rules.started(execution))
  const rules = new RuleChecker(
    {
      executions: (node) => cluster.machines.get(node)?.host.executions ?? [],
      kubeletVersion: (node) => cluster.machines.get(node)?.host.installed?.kubelet,
      apiServerVersions: () => cluster.apiServers,
      etcdDownSince: () => cluster.etcdDownSince(),
    },
    slack,
  )
  cluster.server.onCommit((change) => rules.committed(change))
  return { cluster, rules }
}

/** The same with nobody who judges it. */
export function slipwayCluster(
  options: Omit<SimulationOptions, 'slack'>,
  onExecution?: (execution: Execution) => void,
): SimCluster {
  const { log, version, driversOf = allDrivers, sideTasks = [], namespace = operatorNamespace } = options
  const { sealing, web, registry, stores, metrics, audit } = options
  const cluster: SimCluster = new SimCluster({
    ...options,
    programs: {
      slipway: (pod, { api, clock, random, signal }) =>
        runOperator(
          {
            api,
            clock,
            random,
            log,
            namespace,
            version,
            leaseName: 'slipway-operator',
            identity: `${pod.metadata.name}_${random.uuid()}`,
            podName: pod.metadata.name,
            ...(sealing && { sealing }),
            ...(web && { web }),
            ...(registry && { registry }),
            ...(metrics && { metrics }),
            ...(audit && { audit }),
            ...(pod.spec.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
          },
          signal,
        ),
    },
    startAgent: (process, host, nodeName) => {
      if (options.withoutAgent?.(nodeName)) return new Promise(() => undefined)
      const { api, clock, random, signal } = process
      const requests = requestsOf(process, cluster.controlPlaneServers)
      return runAgent(
        {
          api,
          host,
          clock,
          random,
          log,
          nodeName,
          stateDir: '/var/lib/slipway',
          version,
          drivers: [controlPlaneDriver(requests), ...driversOf(nodeName, { clock, random })],
          sideTasks: [controlPlaneReporter(requests), pretendBackups(stores), ...sideTasks],
          obstacle: etcdObstacle(requests),
        },
        signal,
      )
    },
    ...(onExecution && { onExecution }),
  })
  return cluster
}

function allDrivers(): readonly Driver[] {
  return [scriptDriver, ...rehearsalDrivers]
}
