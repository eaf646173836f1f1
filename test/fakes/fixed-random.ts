import type { Random } from '../../src/ports/random.ts'

/** Chance that always says the same; identifiers count up. */
export function fixedRandom(value = 0.5): Random {
  let count = 0
  return {
    next: () => value,
    uuid: () => {
      count += 1
      return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
    },
  }
}
