// What a node is to be emptied for without an update: its own wish (a file on the host), jobs of the policy, or a reboot. All
// that waits for a node is one order and one drain.

import type { Node } from '../../api/kube.ts'
import type { MaintenanceJob, MaintenancePolicy, MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { NodeState, Rollout, SentinelFiles } from '../../api/node-state.ts'
import type { Content, JobWork, Work } from '../../api/work.ts'
import { fingerprint } from '../fingerprint.ts'
import { selects } from '../label-selector.ts'
import { contentName } from '../update/work-of.ts'

export const maintenancePrefix = 'maintenance:'

export interface Wish {
  /** Names the operation; the same for the same wish. */
  readonly id: string
  /** Since when it is wished for: the queue goes by it. */
  readonly since: string
  readonly work: Work
}

const defaultPriority = 99
const defaultFiles = { required: '/var/maintenance-required', inProgress: '/var/maintenance-in-progress' }

/** Undefined where nothing is asked of the node. */
export function wishOf(policy: MaintenancePolicy, node: Node, state: NodeState, namespace: string): Wish | undefined {
  const { reboots, maintenance } = policy.spec
  const { sentinels } = state.status?.agent ?? {}
  const required = maintenance ? sentinels?.maintenanceRequired : undefined
  const reboot = reboots && !wasRebooted(node, state) ? sentinels?.rebootRequired : undefined
  const jobs = jobsFor(policy.spec, node, state)
  if (required === undefined && reboot === undefined && jobs.length === 0) return undefined
  const files = maintenanceFiles(policy.spec)
  return {
    id: idOf(node, { required, reboot, jobs: jobs.map(({ name, sha256 }) => [name, sha256]) }),
    since: [required, reboot].flatMap((instant) => instant ?? []).toSorted()[0] ?? policy.metadata.creationTimestamp,
    work: {
      ...(jobs.length > 0 && { jobs: jobs.map((job) => jobWork(job, namespace)) }),
      ...(required !== undefined && files && { maintenance: files }),
      ...(reboots && { reboot: reboot === undefined ? 'IfRequired' : 'Always' }),
    },
  }
}

/** Whether what an order that failed was to do is still asked for; while it is, the failure stands. */
export function isStillWished({ jobs, maintenance, reboot }: Work, wish: Wish | undefined): boolean {
  const wanted = wish?.work
  if (!wanted) return false
  if (maintenance && wanted.maintenance) return true
  if (reboot === 'Always' && wanted.reboot === 'Always') return true
  const same = (a: JobWork, b: JobWork) => a.name === b.name && a.sha256 === b.sha256
  return jobs?.some((job) => wanted.jobs?.some((other) => same(job, other))) ?? false
}

/** What the agent watches for; undefined = nothing. */
export function sentinelFiles(spec: MaintenancePolicySpec): SentinelFiles | undefined {
  const { reboots } = spec
  const maintenance = maintenanceFiles(spec)
  if (!reboots && !maintenance) return undefined
  return {
    ...(reboots?.sentinels && { reboot: reboots.sentinels }),
    ...(reboots?.command && { rebootCommand: reboots.command }),
    ...(maintenance && { maintenance }),
  }
}

function maintenanceFiles({ maintenance }: MaintenancePolicySpec): typeof defaultFiles | undefined {
  if (!maintenance) return undefined
  const { required = defaultFiles.required, inProgress = defaultFiles.inProgress } = maintenance
  return { required, inProgress }
}

interface Asked {
  readonly required: string | undefined
  readonly reboot: string | undefined
  readonly jobs: readonly (readonly string[])[]
}

function idOf({ metadata }: Node, asked: Asked): string {
  return `${maintenancePrefix}${metadata.name}/${metadata.uid.slice(0, 8)}-${fingerprint(asked)}`
}

/**
 * A sentinel that outlives its reboot asked for that one, not for another, whoever booted the host: else it would boot for ever. Of
 * agents that do not tell the boot in which it was asked for, the order that booted the host tells it, or what the node is done for.
 */
function wasRebooted(node: Node, { status }: NodeState): boolean {
  const { order, sentinels, bootID } = status?.agent ?? {}
  if (sentinels?.rebootAskedIn !== undefined && sentinels.rebootAskedIn !== bootID) return true
  const alone = idOf(node, { required: undefined, reboot: sentinels?.rebootRequired, jobs: [] })
  if (status?.completed?.includes(alone) || isDoneFor(status?.rollout, alone)) return true
  if (sentinels?.rebootAskedIn !== undefined || order?.state !== 'Succeeded') return false
  const rebootedAt = order.steps.find(({ name, attempts }) => name === 'reboot' && attempts > 0)?.startedAt
  return rebootedAt !== undefined && Date.parse(sentinels?.rebootRequired ?? '') <= Date.parse(rebootedAt)
}

function isDoneFor(rollout: Rollout | undefined, id: string): boolean {
  return rollout?.operationID === id && rollout.phase === 'Done'
}

function jobsFor({ maintenance }: MaintenancePolicySpec, node: Node, { status }: NodeState): readonly MaintenanceJob[] {
  const done = status?.agent?.jobs ?? []
  return (maintenance?.jobs ?? [])
    .filter(({ nodeSelector }) => selects(nodeSelector, node.metadata.labels))
    .filter(({ name, sha256 }) => !done.some((job) => job.name === name && job.sha256 === sha256))
    .toSorted((a, b) => (a.priority ?? defaultPriority) - (b.priority ?? defaultPriority) || (a.name < b.name ? -1 : 1))
}

function jobWork({ name, sha256, url, validate }: MaintenanceJob, namespace: string): JobWork {
  const content = (hash: string): Content => ({ configMap: contentName(hash), namespace, sha256: hash })
  return {
    name,
    sha256,
    ...(url === undefined ? { script: content(sha256) } : { url }),
    ...(validate && { validate: content(validate.sha256) }),
  }
}
