// How a fault run must stand at its end: at rest, every node done once, a person's cordon where it was; or, where a script
// fails for good, stopped with that node cordoned.

import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { maintenanceInProgress } from './fault-host-scripts.ts'
import { ownersMark, profileFile } from './fault-people.ts'
import type { FaultScenario } from './fault-scenario.ts'
import type { FaultWeb } from './fault-web.ts'
import { targetOf } from './fault-wishes.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'

export interface Finding {
  readonly rule: string
  readonly message: string
}

export interface EndedRun extends SimulatedCluster {
  readonly scenario: Expectation
  readonly web: Pick<FaultWeb, 'unbalanced'>
}

/** What of a run's scenario bears on how it ends. */
export type Expectation = Pick<FaultScenario, 'work' | 'cordoned' | 'failing' | 'meddling' | 'meddledNode'> & {
  readonly extras: Pick<FaultScenario['extras'], 'marked' | 'skipped' | 'profile' | 'path'>
}

export async function judgeEnd(
  run: EndedRun,
  isOver: boolean,
  expected: 'failed' | 'rest',
): Promise<readonly Finding[]> {
  const { cluster, rules } = run
  const crashed = cluster.failures.map(({ process, error }) => ({
    rule: 'crash',
    message: `${process}: ${String(error)}`,
  }))
  if (!isOver) return [...crashed, { rule: 'liveness', message: stuck(run) }]
  if (expected === 'failed') return [...crashed, ...judgeFailed(run)]
  rules.atRest(cluster.clock.monotonicMs())
  return [
    ...crashed,
    ...judgeCordons(run),
    ...rules.maintained().map((name) => ({ rule: '6', message: `${name} is still told to be under maintenance` })),
    ...judgeLock(run),
    ...judgeOnce(run),
    ...judgeWork(run),
    ...run.web.unbalanced().map((message) => ({ rule: 'hook', message })),
    ...(await judgeHosts(run)),
  ]
}

function judgeFailed({ cluster, scenario: { failing = '' } }: EndedRun): readonly Finding[] {
  const node = cluster.server.peek(nodes, { name: failing })
  if (!node || node.spec.unschedulable) return []
  return [{ rule: '10', message: `${failing} failed and is not cordoned` }]
}

/** The person's is there, and no other. */
function judgeCordons({ cluster, scenario }: EndedRun): readonly Finding[] {
  return cluster.server.peekAll(nodes).flatMap(({ metadata: { name, annotations }, spec }): readonly Finding[] => {
    const isMeant = name === scenario.cordoned
    const isCordoned = spec.unschedulable === true
    return [
      ...(isMeant && !isCordoned ? [{ rule: '6', message: `the person's cordon of ${name} is gone` }] : []),
      ...(!isMeant && isCordoned
        ? [{ rule: '6', message: `${name} is cordoned at the end, and nobody meant it` }]
        : []),
      ...(name === scenario.extras.marked && Object.keys(ownersMark).some((key) => annotations?.[key] === undefined)
        ? [{ rule: '6', message: `the mark that ${name} had before is gone` }]
        : []),
    ]
  })
}

/** Whoever deleted the policy took with it what says that there is a lock. */
function judgeLock({ rules, scenario: { meddling } }: EndedRun): readonly Finding[] {
  if (!rules.truth.isLockOurs || meddling === 'delete-policy') return []
  return [{ rule: '6', message: 'the lock of kured was never given back' }]
}

/** An update that succeeded has done what it was asked on every node that is there, and nothing where it was told not to. */
function judgeWork({ cluster, scenario }: EndedRun): readonly Finding[] {
  const { work, meddling, meddledNode, extras } = scenario
  const update = cluster.server.peek(directUpdates, { name: 'first' })
  if (update?.status?.phase !== 'Succeeded') return []
  const mayLack = new Set([extras.skipped, meddling === 'skip' ? meddledNode : undefined])
  const found: Finding[] = []
  for (const { metadata, status } of cluster.server.peekAll(nodes)) {
    const { name } = metadata
    const ran = cluster.machine(name).host.executions.filter(({ order }) => order.startsWith('first/'))
    if (name === extras.skipped && ran.length > 0)
      found.push({ rule: 'work', message: `${name} was worked on in spite of skip` })
    if (mayLack.has(name)) continue
    const version = status?.nodeInfo?.kubeletVersion
    if (work !== 'script' && version !== targetOf(extras))
      found.push({ rule: 'work', message: `first succeeded, and ${name} is at ${version}` })
    if (work !== 'kubernetes' && !ran.some(({ step, exitCode }) => step === 'script' && exitCode === 0))
      found.push({ rule: 'work', message: `first succeeded, and its script never ended well on ${name}` })
  }
  return found
}

/** What profiles and sentinels left on the machines that are there. */
async function judgeHosts({ cluster, scenario: { extras } }: EndedRun): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const { metadata } of cluster.server.peekAll(nodes)) {
    const { files } = cluster.machine(metadata.name).host
    if (extras.profile && (await files.read(profileFile.path)) !== profileFile.content)
      found.push({ rule: 'profile', message: `the profile is Applied, and ${metadata.name} has not its file` })
    if ((await files.look(maintenanceInProgress)).kind !== 'none')
      found.push({ rule: '6', message: `${maintenanceInProgress} was left on ${metadata.name}` })
  }
  return found
}

/** No order ran to its end twice: more than one good end of a step needs a loss of power in between. */
function judgeOnce({ cluster }: EndedRun): readonly Finding[] {
  const found: Finding[] = []
  for (const machine of cluster.machines.values()) {
    const ends = new Map<string, number>()
    for (const { order, step, bootId, outcome, exitCode } of machine.host.executions) {
      if (outcome !== 'exited' || exitCode !== 0) continue
      const key = `${order} ${step} ${bootId}`
      ends.set(key, (ends.get(key) ?? 0) + 1)
    }
    for (const [key, count] of ends)
      if (count > 1) found.push({ rule: '4', message: `${machine.name}: ${key} ended well ${count} times` })
  }
  return found
}

function stuck({ cluster }: EndedRun): string {
  const updates = [...cluster.server.peekAll(directUpdates)] as readonly DirectUpdate[]
  const states = [...cluster.server.peekAll(nodeStates)] as readonly NodeState[]
  const about = updates.map(({ metadata, status }) => {
    const deleting = metadata.deletionTimestamp === undefined ? '' : ' (being deleted)'
    const blocked = status?.conditions?.find(
      ({ type, status: holds }) =>
        (type === 'Blocked' && holds === 'True') || (type === 'Planned' && holds === 'False'),
    )?.message
    return `${metadata.name}${deleting} is ${status?.phase} ${status?.progress}: ${blocked}`
  })
  const open = states
    .filter(({ status }) => status?.rollout && status.rollout.phase !== 'Done')
    .map(
      ({ metadata, status }) =>
        `${metadata.name} ${status?.rollout?.phase} ${status?.rollout?.reason?.message ?? ''} (agent: ${status?.agent?.order?.state})`,
    )
  const profiles = cluster.server
    .peekAll(nodeProfiles)
    .map(({ metadata, status }) => `profile ${metadata.name} is ${status?.phase} ${JSON.stringify(status?.nodes)}`)
  return `not over after six hours: ${[...about, ...profiles, ...open].join('; ')}`
}
