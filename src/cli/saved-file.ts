import { SlipwayError } from '../api/slipway-error.ts'
import { type ShapeError, shapeFaults } from '../core/shape-faults.ts'

/** What a kind of file is called, and how one is made. */
export interface SavedName {
  /** As in `x.json is no …`. */
  readonly what: string
  /** The command that writes one. */
  readonly madeBy: string
}

/** A kind of file this program wrote and reads again. */
export interface SavedKind<T> extends SavedName {
  readonly schema: {
    safeParse(
      value: unknown,
    ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: ShapeError }
  }
}

export function savedFault({ what, madeBy }: SavedName, path: string, why: string, cause?: unknown): SlipwayError {
  return new SlipwayError('Usage', `${path} is no ${what}: ${why}`, { nextStep: `make one: ${madeBy}`, cause })
}

/** What the text of such a file holds; refused in words that name the file. */
export function parseSaved<T>(kind: SavedKind<T>, text: string, path: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw savedFault(kind, path, 'it is not JSON', cause)
  }
  const result = kind.schema.safeParse(value)
  if (result.success) return result.data
  throw savedFault(kind, path, shapeFaults({ issues: result.error.issues.slice(0, 3) }))
}
