import { mergePatch } from '../../src/sim/server/json.ts'

/** The object after a JSON merge patch, as an API server makes it. */
export function mergePatched<T>(before: T, patch: object): T {
  return mergePatch(before, patch) as T
}
