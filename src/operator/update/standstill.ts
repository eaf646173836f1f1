// Why an operation stands still, by how its nodes stand.

import type { Reason } from '../../api/reason.ts'
import type { Operation } from '../../core/update/operation.ts'
import { isLost, type Strategy } from '../../core/update/waves.ts'
import type { MemberTable } from './member-table.ts'

const namedAtMost = 3

/** Nodes that failed or need a person, a few of them. */
export function brokenOf(table: MemberTable): readonly string[] {
  return [...table.some('failed', namedAtMost), ...table.some('attention', namedAtMost)].slice(0, namedAtMost)
}

/** Why nothing more starts before a person did something. */
export function stopOf(table: MemberTable, operation: Operation, { maxFailures }: Strategy): Reason | undefined {
  const { failed, attention } = table.counts
  const names = () => brokenOf(table).join(', ')
  if (failed + attention - leftOutOf(table, operation).length > maxFailures || table.controlPlaneBroken) {
    const next = `look at it, then ${remedyOf(operation)}`
    return { code: 'FailuresReached', message: `nothing more starts: ${names()} failed; ${next}` }
  }
  if (failed > 0 && isLost(table.wave)) {
    return { code: 'FailuresReached', message: `nothing more starts: no node of this wave came through (${names()})` }
  }
  return undefined
}

function remedyOf({ kind, update }: Operation): string {
  if (kind === undefined) return `slipway retry ${update}`
  return kind === 'NodeProfile' ? `slipway retry --profile ${update}, or correct the profile` : 'put it right'
}

/** What those that wait wait for, where none of them could go. */
export function waitOf(table: MemberTable): Reason | undefined {
  const staging = table.stagingNames('asked', namedAtMost)
  if (staging.length > 0) {
    return {
      code: 'NodesStaging',
      message: `${staging.join(', ')} fetch and check what they need before they are drained`,
    }
  }
  const [unheard] = table.stagingNames('unheard', 1)
  if (unheard !== undefined) {
    return { code: 'WaitingForAgent', message: `the agent on ${unheard} has not accepted the order yet` }
  }
  const [first] = table.notReady(1)
  return first === undefined
    ? undefined
    : { code: 'NodeNotReady', message: `${first} is not Ready; it is worked on when it is back` }
}

/** Nodes that failed and that a person wants left out: they know of those, which keep nobody up. */
export function leftOutOf(table: MemberTable, { skip }: Operation): readonly string[] {
  return [...(skip ?? [])].filter((name) => {
    const standing = table.standing(name)
    return standing === 'failed' || standing === 'attention'
  })
}
