import type { CommittedChange } from '../server/object-store.ts'
import type { Truth } from './truth.ts'

/** A rule of the architecture, by its number there. */
export type RuleNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11

export interface Violation {
  readonly rule: RuleNumber
  readonly message: string
  /** Virtual milliseconds since the start of the run. */
  readonly atMs: number
}

/** How far somebody's knowledge may lag behind the truth before acting on it is a fault of theirs. */
export interface Slack {
  /** A watch may be late or silently dead this long. */
  readonly staleMs: number
  /** A request may be on its way this long. */
  readonly requestMs: number
}

export type Report = (rule: RuleNumber, message: string) => void

/** Looks at one committed write, with the truth as it was just before it. */
export type WriteRule = (change: CommittedChange, truth: Truth, slack: Slack, report: Report) => void

export const isOperator = (client: string): boolean => client.startsWith('operator/')
export const isAgent = (client: string): boolean => client.startsWith('agent/')
