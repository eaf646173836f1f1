// With which exit code an update has come to its end for the one who follows it.

import type { DirectUpdate } from '../api/direct-update.ts'
import { isObserved, refusal } from '../core/update/outcome.ts'
import { exitCode } from './exit-code.ts'

export function outcomeCode(update: DirectUpdate): number {
  if (refusal(update)) return exitCode.blocked
  switch (isObserved(update) ? update.status?.phase : undefined) {
    case 'Failed':
    case 'Cancelled':
      return exitCode.failed
    case 'RequiresAttention':
    case 'Paused':
      return exitCode.blocked
    case 'InProgress':
      return update.status?.wave?.promotion ? exitCode.blocked : exitCode.done
    default:
      return exitCode.done
  }
}
