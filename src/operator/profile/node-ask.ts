import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'

/** What rolling a profile out asks of one node; nothing of one that the profile does not select. */
export type NodeAsk =
  | { readonly ask: 'known'; readonly work: Work }
  | { readonly ask: 'unknown'; readonly reason: Reason }
