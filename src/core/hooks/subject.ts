/** What a gate is looked at for, or a hook run for. */
export interface Subject {
  /** The id of the operation. */
  readonly operation: string
  /** The name of the resource it is for. */
  readonly update: string
  readonly node?: string | undefined
  readonly wave?: number | undefined
  /** A node that is tried again is another subject. */
  readonly attempt?: number | undefined
}

/** What a Job is told in its environment. */
export function environmentOf({ operation, update, node, wave }: Subject): Readonly<Record<string, string>> {
  return {
    SLIPWAY_OPERATION: operation,
    SLIPWAY_UPDATE: update,
    SLIPWAY_NODE: node ?? '',
    SLIPWAY_WAVE: wave === undefined ? '' : String(wave),
  }
}
