// Waves: what each strategy is made of, and when the next wave may begin. What must outlast the operator is the recorded
// status; everything else is looked at anew each time.

import type { Reason } from '../../api/reason.ts'
import type { Approval } from '../../api/steering.ts'
import type { StrategySpec, WaveStatus } from '../../api/strategy.ts'
import { resolveCount } from '../count.ts'
import { parseDuration } from '../duration.ts'
import type { GateVerdict } from '../gates/decide-gate.ts'

export interface Wave {
  /** Cumulative. */
  readonly size: number | string
  readonly soak?: string | undefined
  readonly promotion?: 'Automatic' | 'Manual' | undefined
}

export interface Strategy {
  readonly waves: readonly Wave[]
  readonly maxUnavailable: number | string
  readonly maxFailures: number
  /** Names that come before all others of their role. */
  readonly first: readonly string[]
}

const namedAtMost = 3

type Preset = Pick<Strategy, 'waves' | 'maxUnavailable'>

const presets: Readonly<Record<NonNullable<StrategySpec['type']>, Preset>> = {
  Rolling: { maxUnavailable: 1, waves: [{ size: '100%' }] },
  Parallel: { maxUnavailable: '100%', waves: [{ size: '100%' }] },
  Canary: {
    maxUnavailable: 1,
    waves: [{ size: 1, soak: '15m', promotion: 'Manual' }, { size: '10%' }, { size: '100%' }],
  },
  Batches: { maxUnavailable: 1, waves: [{ size: '25%' }, { size: '50%' }, { size: '75%' }, { size: '100%' }] },
}

export function strategyOf(spec: StrategySpec = {}): Strategy {
  const preset = presets[spec.type ?? 'Rolling']
  return {
    waves: spec.waves ?? preset.waves,
    maxUnavailable: spec.maxUnavailable ?? preset.maxUnavailable,
    maxFailures: spec.maxFailures ?? 0,
    first: spec.first ?? [],
  }
}

/** How many workers may have been taken when this wave is done; never fewer than in the waves before. */
export function waveLimit(waves: readonly Wave[], index: number, workers: number): number {
  const sizes = waves.slice(0, index + 1).map(({ size }) => resolveCount(size, workers))
  return Math.min(workers, Math.max(0, ...sizes))
}

/** The workers of all waves up to the present one. */
export interface WaveCounts {
  readonly size: number
  /** Still to be done: under work, or about to be. */
  readonly open: number
  readonly done: number
  readonly failed: number
  /** Waiting, but not Ready: the others are not kept up by them. */
  readonly unready: number
}

export interface WaveView {
  readonly waves: readonly Wave[]
  readonly workers: number
  readonly recorded: WaveStatus | undefined
  readonly counts: WaveCounts
  /** Those of the open ones that need a person. */
  readonly inNeed?: readonly string[]
  readonly operationID: string
  readonly update: string
  readonly approvals: readonly Approval[]
  /** Whether the wave, which is done, soaks well: if not, the soak begins anew when it does. */
  readonly soakGate?: (index: number) => GateVerdict | undefined
  /** Why the wave, which is done and has soaked, may not be left yet. */
  readonly gate?: (index: number) => Reason | undefined
  readonly now: Date
}

export interface WaveStep {
  readonly status: WaveStatus
  /** Why the next wave does not begin, though nothing of this one is left to do, or nothing but by a person. */
  readonly reason?: Reason
  /** The wave is done, and is being looked at. */
  readonly soaking: boolean
  readonly untilMs?: number
}

export function stepWave(view: WaveView): WaveStep {
  const { waves, workers, counts, now } = view
  const at = now.toISOString()
  const index = Math.min(view.recorded?.index ?? 0, waves.length - 1)
  const wave = waves[index]
  const base = { index, of: waves.length, size: waveLimit(waves, index, workers), since: view.recorded?.since ?? at }
  const step = (status: WaveStatus, more: Partial<WaveStep> = {}): WaveStep => ({
    status,
    soaking: false,
    ...more,
  })
  const { promotion } = view.recorded ?? {}
  // Another node took the place of one that left, or is tried again: what was looked at, or approved, was not this.
  if (!isComplete(counts)) {
    const reason = keptUp(view, index)
    return step(base, { ...(reason && { reason }) })
  }
  const addsNone = index > 0 && waveLimit(waves, index - 1, workers) === base.size
  const soakMs = wave?.soak === undefined || addsNone ? 0 : parseDuration(wave.soak)
  const begun = begunSoak(view.recorded, soakMs)
  const kept = { ...base, ...begun, ...(promotion && { promotion }) }
  const hasSoaked = soakedAt(begun?.soakUntil, now) !== undefined
  const lacksApproval =
    wave?.promotion === 'Manual' && index < waves.length - 1 && !addsNone && !isApproved(view, index)
  // Nobody may have looked when the soak ended: it is asked then, too, and when a person who was waited for has answered.
  const asksSoakGate = soakMs > 0 && !(hasSoaked && lacksApproval && promotion === 'Wanted')
  const calm = asksSoakGate ? view.soakGate?.(index) : undefined
  if (calm?.state === 'waiting' || calm?.state === 'failed') return step(base, { reason: calm.reason, soaking: true })
  // An operator that has just started knows nothing yet: no soak begins or ends by that, and none is broken off.
  if (calm?.state === 'unseen' && (begun === undefined || hasSoaked))
    return step(kept, { reason: calm.reason, soaking: true })
  const soak = begun ?? begunSoak({ soakSince: at }, soakMs)
  const soaked = { ...base, ...soak }
  if (soak && Date.parse(soak.soakUntil) > now.getTime()) {
    const { soakUntil } = soak
    const message = `wave ${index + 1} of ${waves.length} is done and is looked at until ${soakUntil}`
    const reason: Reason = { code: 'WaveSoaking', message, nextCheck: soakUntil }
    return step(soaked, { reason, soaking: true, untilMs: Date.parse(soakUntil) })
  }
  const gate = view.gate?.(index)
  if (gate) return step(soaked, { reason: gate, soaking: true })
  if (index === waves.length - 1) return step(soaked)
  if (lacksApproval) {
    const message = `wave ${index + 1} of ${waves.length} is done; look at its nodes, then: slipway approve ${view.update}`
    return step({ ...soaked, promotion: 'Wanted' }, { reason: { code: 'ApprovalWanted', message } })
  }
  const next = index + 1
  return step({ index: next, of: waves.length, size: waveLimit(waves, next, workers), since: at })
}

/** The soak that has begun, as long as it is to be now: an edit may have made it longer, shorter or none. */
function begunSoak(
  recorded: Pick<WaveStatus, 'soakSince' | 'soakUntil'> | undefined,
  soakMs: number,
): { readonly soakSince?: string; readonly soakUntil: string } | undefined {
  const { soakSince, soakUntil } = recorded ?? {}
  // By an operator that did not write down when it began.
  if (soakSince === undefined) return soakUntil === undefined ? undefined : { soakUntil }
  if (soakMs === 0) return undefined
  return { soakSince, soakUntil: new Date(Date.parse(soakSince) + soakMs).toISOString() }
}

/** When its soak was over, if it is. */
export function soakedAt(soakUntil: string | undefined, now: Date): string | undefined {
  return soakUntil !== undefined && Date.parse(soakUntil) <= now.getTime() ? soakUntil : undefined
}

/** All that is left of the wave needs a person, and there are others who wait for it. */
function keptUp({ waves, workers, counts, inNeed = [] }: WaveView, index: number): Reason | undefined {
  if (counts.open === 0 || counts.open > inNeed.length || counts.size >= workers) return undefined
  const [first] = inNeed
  const names = inNeed.slice(0, namedAtMost).join(', ')
  const who = inNeed.length > namedAtMost ? `${names} and ${inNeed.length - namedAtMost} more` : names
  const need = inNeed.length > 1 ? 'need' : 'needs'
  const next = `slipway why ${first} tells what for and what goes on`
  const message = `wave ${index + 1} of ${waves.length} waits for ${who}, which ${need} a person; ${next}`
  return { code: 'FailedNodesInTheWay', message }
}

/** Somebody must have come through: a wave of failures or of nodes that are down proves nothing. */
function isComplete({ open, done, failed, unready }: WaveCounts): boolean {
  return open === 0 && (done > 0 || (failed === 0 && unready === 0))
}

/** None of its nodes came through: there is nothing to go on with. */
export function isLost({ open, done, failed, unready }: WaveCounts): boolean {
  return open === 0 && done === 0 && unready === 0 && failed > 0
}

function isApproved({ approvals, operationID }: WaveView, index: number): boolean {
  return approvals.some((approval) => approval.operationID === operationID && approval.wave === index)
}
