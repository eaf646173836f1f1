// All profiles at once: what they want of each node, what the agents watch for, which roll-outs run, how each profile stands.
// One pass for everything, since a node gets all its profiles together.

import { isKubeError } from '../../api/kube-error.ts'
import { type NodeProfile, nodeProfiles } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../../core/duration.ts'
import { equalJson, mergePatch } from '../../core/merge-patch.ts'
import { isReady } from '../../core/node/node-facts.ts'
import type { PastFailure } from '../../core/node/order.ts'
import { profilesOf } from '../../core/profile/node-want.ts'
import { profileRunOf } from '../../core/profile/operation-id.ts'
import { type ProfileMember, profileStatus } from '../../core/profile/profile-status.ts'
import { finalizer } from '../../core/update/operation.ts'
import { isBroken } from '../../core/update/retry.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { setDrift } from '../node/act.ts'
import type { OperatorPorts } from '../ports.ts'
import type { DesiredShelf } from './desired-shelf.ts'
import type { NodeEntry, ProfileBook } from './profile-book.ts'
import type { ProfileOperations } from './profile-operations.ts'
import { readAgainMs } from './source-reader.ts'

export interface ProfileControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: ProfileBook
  readonly shelf: DesiredShelf
  readonly operations: ProfileOperations
  readonly events: EventRecorder
  readonly wakeGrants: () => void
}

const defaultCheck = '10m'

export function makeProfileReconcile(options: ProfileControllerOptions): Reconcile {
  const { ports, cluster, book, shelf, operations } = options

  return async (_key, signal) => {
    for (const profile of cluster.profiles.values()) await ensureFinalizer(profile, signal)
    await book.look(signal)
    for (const [node, entry] of book.entries) await tellAgent(node, entry, signal)
    const hasNews = operations.follow(ports.clock.now())
    if (book.hasFound() || hasNews) options.wakeGrants()
    const looks: (number | undefined)[] = []
    for (const profile of cluster.profiles.values()) looks.push(await report(profile, signal))
    for (const profile of cluster.profiles.values()) await release(profile, signal)
    const againMs = await shelf.keepOnly(usedContents(), ports.clock.monotonicMs(), signal)
    const waits = [againMs, book.hasSources ? readAgainMs : undefined, ...looks].filter((ms) => ms !== undefined)
    return waits.length > 0 ? { afterMs: Math.min(...waits) } : undefined
  }

  /** What the agent compares its host with, once that was applied. */
  async function tellAgent(node: string, { want, profiles }: NodeEntry, signal: AbortSignal): Promise<void> {
    const state = cluster.states.get(node)
    if (!state || !want?.ok || want.sha256 === undefined) return
    const drift = profiles.length > 0 ? driftOf(profiles, want.sha256) : undefined
    if (equalJson(drift, state.spec.drift)) return
    try {
      await setDrift(ports.api, cluster, state, drift, signal)
    } catch (error) {
      // Changed or gone since: the watch will say so, and then it is looked at again.
      if (!isKubeError(error, 'Conflict', 'NotFound')) throw error
    }
  }

  function driftOf(profiles: readonly NodeProfile[], sha256: string): NonNullable<NodeState['spec']['drift']> {
    const checks = profiles.map(({ spec }) => spec.drift?.check ?? defaultCheck)
    const [check = defaultCheck] = checks.sort((a, b) => parseDuration(a) - parseDuration(b))
    // A host is compared as a whole: where one profile only wants to be told, nothing is put right behind its back.
    const reports = profiles.some(({ spec }) => spec.drift?.action === 'Report')
    return { desired: shelf.content(sha256), check, action: reports ? 'Report' : 'Repair' }
  }

  /** Resolves to when its present wave is to be looked at again. */
  async function report(profile: NodeProfile, signal: AbortSignal): Promise<number | undefined> {
    const { name } = profile.metadata
    const mine = [...book.entries].filter(([, entry]) => concerns(entry, profile))
    const refused = mine.flatMap(([, entry]) => refusalOf(entry, name))[0]
    const members = [...mine.map(([node, entry]) => memberOf(node, entry, profile)), ...stragglers(profile, mine)]
    const byUpdate = profile.spec.rollout === 'ByUpdate' && profile.metadata.deletionTimestamp === undefined
    const now = ports.clock.now()
    const { waves, untilMs } = operations.waves(name, now)
    const afterMs = untilMs === undefined ? undefined : Math.max(1, untilMs - now.getTime())
    const stands = profileStatus(
      {
        profile,
        members,
        refused,
        awaitsUpdate: byUpdate && members.some(({ applied }) => !applied),
        waitingFor: operations.waitingFor(name, now),
        operationID: operations.idOf(name),
      },
      now,
    )
    const secretVersions = [...book.secretVersions(profile)]
    const status = {
      ...stands,
      ...(waves.length > 0 && { waves: [...waves] }),
      ...(secretVersions.length > 0 && { secretVersions }),
    }
    if (equalJson(status, profile.status)) return afterMs
    if (status.phase !== profile.status?.phase) note(profile, status.phase, refused?.message)
    await patch(profile, { status: mergePatch(profile.status ?? {}, status) }, signal, 'status')
    return afterMs
  }

  function memberOf(node: string, entry: NodeEntry, profile: NodeProfile): ProfileMember {
    const { agent } = cluster.states.get(node)?.status ?? {}
    const applied = book.isCurrent(node, profile)
    const failure = failureOf(node, profile, applied)
    const noAgent = { code: 'AgentMissing' as const, message: `no agent on ${node} that applies profiles has reported` }
    const waitsFor = entry.want ? (entry.want.ok ? undefined : entry.want.reason) : noAgent
    return {
      node,
      applied,
      ...(waitsFor && { waitsFor }),
      drifted: agent?.profile?.drift?.length ?? 0,
      ...(failure && { failed: failedReason(node, failure) }),
    }
  }

  /** Also where another operation has the node by now; also at a gate, after all was applied. */
  function failureOf(
    node: string,
    { metadata }: NodeProfile,
    applied: boolean,
  ): Pick<PastFailure, 'reason'> | undefined {
    const { rollout, failed = [] } = cluster.states.get(node)?.status ?? {}
    if (rollout && isBroken(rollout.phase) && profileRunOf(rollout.operationID)?.profile === metadata.name)
      return rollout
    if (applied) return undefined
    return failed.find(({ operationID }) => {
      const run = profileRunOf(operationID)
      return run?.profile === metadata.name && run.revision === book.revision(metadata.name)
    })
  }

  /** They have nothing of the profile any more, and did not come through a gate after that. */
  function stragglers(profile: NodeProfile, members: readonly (readonly [string, NodeEntry])[]): ProfileMember[] {
    const known = new Set(members.map(([node]) => node))
    return [...cluster.states.values()].flatMap(({ metadata: { name } }) => {
      const failure = known.has(name) ? undefined : failureOf(name, profile, true)
      return failure ? [{ node: name, applied: true, drifted: 0, failed: failedReason(name, failure) }] : []
    })
  }

  /** The finalizer goes when every host that can be reached has nothing of the profile any more. */
  async function release(profile: NodeProfile, signal: AbortSignal): Promise<void> {
    const { name, finalizers = [], deletionTimestamp } = profile.metadata
    if (deletionTimestamp === undefined || !finalizers.includes(finalizer)) return
    const holding = [...book.entries].some(([node, { before, applied }]) => {
      const here = cluster.nodes.get(node)
      return applied !== undefined && before && profilesOf(before).has(name) && here !== undefined && isReady(here)
    })
    if (holding) return
    const kept = finalizers.filter((entry) => entry !== finalizer)
    await patch(profile, { metadata: { finalizers: kept.length > 0 ? kept : null } }, signal)
  }

  async function ensureFinalizer(profile: NodeProfile, signal: AbortSignal): Promise<void> {
    const { finalizers = [], deletionTimestamp } = profile.metadata
    if (deletionTimestamp !== undefined || finalizers.includes(finalizer)) return
    await patch(profile, { metadata: { finalizers: [...finalizers, finalizer] } }, signal)
  }

  function usedContents(): ReadonlySet<string> {
    const wanted = [...book.entries.values()].flatMap(({ want }) => want?.sha256 ?? [])
    return new Set([
      ...wanted,
      ...[...cluster.states.values()].flatMap(({ spec, status }) => {
        const named = [spec.drift?.desired, spec.order?.work.profile?.desired].flatMap((one) => one?.sha256 ?? [])
        return [...named, ...(status?.agent?.profile?.applied === undefined ? [] : [status.agent.profile.applied])]
      }),
    ])
  }

  async function patch(
    { metadata }: NodeProfile,
    change: { readonly metadata?: object; readonly status?: unknown },
    signal: AbortSignal,
    subResource?: 'status',
  ): Promise<void> {
    const { name, uid } = metadata
    const resourceVersion = cluster.profiles.get(name)?.metadata.resourceVersion
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } }
    try {
      cluster.profiles.learn(
        await ports.api.patch(nodeProfiles, { name }, { type: 'merge', body }, signal, subResource),
      )
    } catch (error) {
      // Deleted meanwhile: the watch will say so.
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }

  function note({ metadata }: NodeProfile, phase: string | undefined, why: string | undefined): void {
    ports.log.info('profile phase changed', { profile: metadata.name, phase, ...(why !== undefined && { why }) })
    const { apiVersion, kind } = nodeProfiles
    options.events.record({
      regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
      type: phase === 'Refused' || phase === 'Failed' ? 'Warning' : 'Normal',
      reason: phase ?? 'Pending',
      action: 'Apply',
      note: (why ?? `the profile is ${phase}`).slice(0, 1000),
    })
  }
}

function failedReason(node: string, { reason }: Pick<PastFailure, 'reason'>): Reason {
  if (!reason) return { code: 'StepFailed', message: `${node} failed` }
  return { ...reason, message: `${node}: ${reason.message}`.slice(0, 4000) }
}

/** Selected by it, or with something of it still there. */
function concerns({ profiles, before }: NodeEntry, { metadata }: NodeProfile): boolean {
  if (profiles.some((profile) => profile.metadata.name === metadata.name)) return true
  return metadata.deletionTimestamp !== undefined && before !== undefined && profilesOf(before).has(metadata.name)
}

function refusalOf({ want, move }: NodeEntry, profile: string) {
  if (move.move === 'refused' && move.profiles.includes(profile)) return [move.reason]
  // Without a key the node waits; with anything else nothing of the profile can be right.
  const isFault = want !== undefined && !want.ok && want.reason.code !== 'HostKeyMissing'
  return isFault && want.profiles.includes(profile) ? [want.reason] : []
}
