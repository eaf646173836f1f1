// The one place where failures become exit codes and sentences: what happened, and what to do next.

import type { SlipwayErrorCode } from '../api/slipway-error.ts'
import { asSlipwayError } from '../core/failure.ts'
import type { Terminal } from './dependencies.ts'
import { printable } from './printable.ts'
import { harmless } from './table.ts'

export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Refused, blocked, or in need of a person. */
  blocked: 3,
  /** No way to talk to the API: nobody answers, no right to, or it does not know our kinds. */
  unreachable: 4,
  /** What shells say for Ctrl-C. */
  interrupted: 130,
} as const

/** Any other is a reason of the catalogue: the work failed. */
const exitCodeByError: Partial<Readonly<Record<SlipwayErrorCode, number>>> = {
  Usage: exitCode.usage,
  KubeconfigMissing: exitCode.unreachable,
  KubeconfigBroken: exitCode.unreachable,
  CannotReach: exitCode.unreachable,
  NotPermitted: exitCode.unreachable,
  CrdsMissing: exitCode.unreachable,
  CrdsOutdated: exitCode.unreachable,
  NotFound: exitCode.usage,
  BundleMissing: exitCode.usage,
  Refused: exitCode.blocked,
  ReleaseUntrusted: exitCode.failed,
  ReleaseBroken: exitCode.failed,
  InstalledElsewhere: exitCode.blocked,
  ManagedByHelm: exitCode.blocked,
  NotReadyInTime: exitCode.failed,
  NotGoneInTime: exitCode.failed,
  DiskFull: exitCode.failed,
  DiskNotFound: exitCode.failed,
  DiskFailed: exitCode.failed,
  JournalCorrupt: exitCode.blocked,
  NotLeader: exitCode.failed,
  Stopped: exitCode.interrupted,
  Internal: exitCode.failed,
}

export function exitCodeOf(error: unknown): number {
  return exitCodeByError[asSlipwayError(error).code] ?? exitCode.failed
}

/** Tells the failure in two lines, its code in brackets; with `debug` also where it came from. */
export async function printError(error: unknown, err: Pick<Terminal, 'write'>, debug: boolean): Promise<void> {
  const { code, message, nextStep } = asSlipwayError(error)
  err.write(`error: ${harmless(message)} [${code}]\n`)
  err.write(`next: ${harmless(nextStep ?? (await remedyOf(code)))}\n`)
  if (debug) for (const line of traces(error)) err.write(`${printable(line)}\n`)
}

/** Loaded when something failed: the catalogue comes with the schemas of the API. */
async function remedyOf(code: SlipwayErrorCode): Promise<string> {
  const { reasonCatalogue } = await import('../api/reason.ts')
  const said: Readonly<Partial<Record<string, string>>> = reasonCatalogue
  return said[code] ?? 'look at its reason in docs/reference/reasons.md'
}

function traces(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return []
  const own = error.stack ?? error.message
  return error.cause === undefined ? [own] : [own, 'caused by:', ...traces(error.cause)]
}
