import { SlipwayError } from '../api/slipway-error.ts'
import { type ShapeError, shapeFaults } from './usage.ts'

/** A kind of file this program wrote and reads again. */
export interface SavedKind<T> {
  readonly schema: {
    safeParse(
      value: unknown,
    ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: ShapeError }
  }
  /** As in `x.json is no …`. */
  readonly what: string
  /** The command that writes one. */
  readonly madeBy: string
}

/** What the text of such a file holds; refused in words that name the file. */
export function parseSaved<T>({ schema, what, madeBy }: SavedKind<T>, text: string, path: string): T {
  const wrong = (why: string, cause?: unknown) =>
    new SlipwayError('Usage', `${path} is no ${what}: ${why}`, { nextStep: `make one: ${madeBy}`, cause })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw wrong('it is not JSON', cause)
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw wrong(shapeFaults({ issues: result.error.issues.slice(0, 3) }))
}
