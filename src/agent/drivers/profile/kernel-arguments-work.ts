// The kernel arguments of a profile: changed for the next boot, which is another driver's business.

import type { DesiredState } from '../../../api/desired-state.ts'
import type { ManagedKernelArgument, ProfileRecord } from '../../../api/profile-record.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { Site } from './site.ts'

export interface ArgumentChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** What a host boots its kernel with next time. */
export interface KernelArguments {
  list(signal: AbortSignal): Promise<readonly string[]>
  /** Idempotent: what is there is not added twice, what is not there is not missed. */
  change(change: ArgumentChange, signal: AbortSignal): Promise<void>
}

/** Undefined on a host whose boot loader we do not know. */
export type FindKernelArguments = (host: Host, signal: AbortSignal) => Promise<KernelArguments | undefined>

const noChange: ArgumentChange = { add: [], remove: [] }

/** What has to change for the target, for what no profile names any more, and for what an order has asked for and was lost. */
export function argumentChange(
  target: DesiredState,
  record: ProfileRecord,
  present: readonly string[],
  asked: ArgumentChange = noChange,
): ArgumentChange {
  const named = new Set(target.kernelArguments.map(({ argument }) => argument))
  const known = new Set([...named, ...record.kernelArguments.map(({ argument }) => argument)])
  const wanted = [
    ...target.kernelArguments.map(({ argument, wanted }) => ({ argument, there: wanted })),
    ...record.kernelArguments
      .filter(({ argument, whenRemoved }) => !named.has(argument) && whenRemoved === 'Restore')
      .map(({ argument, wasThere }) => ({ argument, there: wasThere })),
    ...[
      ...asked.add.map((argument) => ({ argument, there: true })),
      ...asked.remove.map((argument) => ({ argument, there: false })),
    ].filter(({ argument }) => !known.has(argument)),
  ]
  const off = wanted.filter(({ argument, there }) => present.includes(argument) !== there)
  return {
    add: off.filter(({ there }) => there).map(({ argument }) => argument),
    remove: off.filter(({ there }) => !there).map(({ argument }) => argument),
  }
}

export function isNothing({ add, remove }: ArgumentChange): boolean {
  return add.length + remove.length === 0
}

/** What one order does about them. */
export interface ArgumentWork {
  readonly site: Site
  readonly target: DesiredState
  readonly find: FindKernelArguments
  /** What it has asked for already, in an earlier life or boot; kept by its notes. */
  readonly asked: ArgumentChange | undefined
  /** Called before anything is changed, where something is to be kept. */
  note(change: ArgumentChange): Promise<void>
}

export async function pendingArguments(
  { site: { host, record }, target, find, asked = noChange }: Omit<ArgumentWork, 'note'>,
  signal: AbortSignal,
): Promise<ArgumentChange> {
  const known = await record.load()
  if (target.kernelArguments.length + known.kernelArguments.length === 0 && isNothing(asked)) return noChange
  const present = await (await mustFind(host, find, signal)).list(signal)
  return argumentChange(target, known, present, asked)
}

export async function applyKernelArguments(work: ArgumentWork, signal: AbortSignal): Promise<void> {
  const { site, target, find, asked } = work
  const change = await pendingArguments(work, signal)
  if (isNothing(change)) return
  if (!asked) await noteForgotten(work, change)
  const before = await site.record.load()
  const known = new Set(before.kernelArguments.map(({ argument }) => argument))
  const managed = target.kernelArguments
    .filter(({ argument }) => !known.has(argument) && [...change.add, ...change.remove].includes(argument))
    .map(({ argument, whenRemoved, wanted }): ManagedKernelArgument => ({ argument, whenRemoved, wasThere: !wanted }))
  await site.record.save({ ...before, kernelArguments: [...before.kernelArguments, ...managed] })
  await (await mustFind(site.host, find, signal)).change(change, signal)
}

/** What the target does not name stands nowhere any more once the record is settled. */
async function noteForgotten({ target, note }: ArgumentWork, { add, remove }: ArgumentChange): Promise<void> {
  const named = new Set(target.kernelArguments.map(({ argument }) => argument))
  const isForgotten = (argument: string) => !named.has(argument)
  const forgotten = { add: add.filter(isForgotten), remove: remove.filter(isForgotten) }
  if (!isNothing(forgotten)) await note(forgotten)
}

async function mustFind(host: Host, find: FindKernelArguments, signal: AbortSignal): Promise<KernelArguments> {
  const found = await find(host, signal)
  if (found) return found
  throw new SlipwayError(
    'ToolMissing',
    'the profile names kernel arguments, and nothing here knows this host’s boot loader',
  )
}
