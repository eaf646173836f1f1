import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mutations } from './mutations.ts'
import { plant } from './plant.ts'
import { simulateFaults } from './simulate.ts'

/** Where none of them shows at the seed that is remembered, enough runs for the rarest to show; in slices, since most show at once. */
const slices = [
  [1, 30],
  [31, 120],
  [121, 400],
  [401, 1200],
] as const

describe.concurrent('every rule has teeth: a planted bug is caught', { timeout: 1_800_000 }, () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-mutants-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each(mutations.map((mutation, index) => ({ ...mutation, index })))('rule $rule: $name', async (mutation) => {
    const copy = join(folder, String(mutation.index))
    await plant(mutation.edits, copy)
    try {
      const { seed } = mutation
      for (const [first, last] of [...(seed === undefined ? [] : [[seed, seed] as const]), ...slices]) {
        const { violations } = await simulateFaults(copy, first, last)
        const caught = violations.find(({ rule }) => rule === mutation.rule)
        if (!caught) continue
        if (caught.seed !== seed) console.info(`${mutation.name}: shows at seed ${caught.seed} now`)
        return
      }
      expect.fail(`not caught in ${slices.at(-1)?.[1]} runs`)
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })
})
