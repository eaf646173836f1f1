import type { Work } from '../../api/work.ts'
import type { Operation } from '../../core/update/operation.ts'

/** Something besides DirectUpdates that wants nodes worked on. Its operations have ids that begin with its prefix. */
export interface OperationSource {
  /** `profile:` or `maintenance:`. */
  readonly prefix: string
  /** The operation of that id, if it still is wanted: read off what the API says each time, never remembered. */
  operation(id: string): Operation | undefined
  /** What it asks of one node, where that differs from node to node; undefined while that is not known. */
  workFor?(operation: Operation, node: string): Work | undefined
}
