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

/** What has to change for the target, and for what no profile names any more. */
export function argumentChange(
  target: DesiredState,
  record: ProfileRecord,
  present: readonly string[],
): ArgumentChange {
  const named = new Set(target.kernelArguments.map(({ argument }) => argument))
  const wanted = [
    ...target.kernelArguments.map(({ argument, wanted }) => ({ argument, there: wanted })),
    ...record.kernelArguments
      .filter(({ argument, whenRemoved }) => !named.has(argument) && whenRemoved === 'Restore')
      .map(({ argument, wasThere }) => ({ argument, there: wasThere })),
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

export async function pendingArguments(
  { host, record }: Site,
  target: DesiredState,
  find: FindKernelArguments,
  signal: AbortSignal,
): Promise<ArgumentChange> {
  const known = await record.load()
  if (target.kernelArguments.length + known.kernelArguments.length === 0) return { add: [], remove: [] }
  const present = await (await mustFind(host, find, signal)).list(signal)
  return argumentChange(target, known, present)
}

export async function applyKernelArguments(
  site: Site,
  target: DesiredState,
  find: FindKernelArguments,
  signal: AbortSignal,
): Promise<void> {
  const { host, record } = site
  const change = await pendingArguments(site, target, find, signal)
  if (isNothing(change)) return
  const before = await record.load()
  const known = new Set(before.kernelArguments.map(({ argument }) => argument))
  const managed = target.kernelArguments
    .filter(({ argument }) => !known.has(argument) && [...change.add, ...change.remove].includes(argument))
    .map(({ argument, whenRemoved, wanted }): ManagedKernelArgument => ({ argument, whenRemoved, wasThere: !wanted }))
  await record.save({ ...before, kernelArguments: [...before.kernelArguments, ...managed] })
  await (await mustFind(host, find, signal)).change(change, signal)
}

async function mustFind(host: Host, find: FindKernelArguments, signal: AbortSignal): Promise<KernelArguments> {
  const found = await find(host, signal)
  if (found) return found
  throw new SlipwayError(
    'ToolMissing',
    'the profile names kernel arguments, and nothing here knows this host’s boot loader',
  )
}
