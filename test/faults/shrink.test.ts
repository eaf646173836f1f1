import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { drawHistory } from '../../src/main/simulation/fault-history.ts'
import { faultKinds } from '../../src/sim/fault-plan.ts'
import { mutations } from './mutations.ts'
import { plant } from './plant.ts'
import { simulate } from './simulate.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-shrink-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('a planted bug is shrunk to a history of two faults at most, which fails again', {
  timeout: 1_800_000,
}, async () => {
  const mutation = mutations.find(({ name }) => name === 'a restarted agent starts a second copy of a running step')
  if (!mutation) throw new Error('the bug to plant is gone: choose another')
  const planted = await plant(mutation.edits)
  const record = join(folder, 'shortest.json')
  const { shrunk, violations } = await simulate(
    planted,
    '--faults',
    'all',
    '--seeds',
    `${mutation.seed ?? 1}..1200`,
    '--shrink',
    '--record',
    record,
  )
  expect(violations.length, 'the history as it was drawn').toBeGreaterThan(0)
  if (!shrunk) throw new Error('nothing was shrunk')
  expect(shrunk.rule).toBe('4')
  expect(shrunk.faults.length).toBeLessThanOrEqual(2)
  expect(shrunk.faults.length).toBeGreaterThan(0)
  const drawn = drawHistory(shrunk.seed, { kinds: faultKinds })
  expect(shrunk.nodes, 'the failure does not need all of them').toBeLessThan(drawn.scenario.nodes.length)

  const again = await simulate(
    planted,
    '--faults',
    'all',
    '--seeds',
    String(shrunk.seed),
    '--without',
    shrunk.without.join(','),
  )
  expect(again.violations[0]).toMatchObject({ rule: shrunk.rule, message: shrunk.message })

  expect(JSON.parse(await readFile(record, 'utf8'))).toMatchObject({
    options: { seeds: { first: shrunk.seed, last: shrunk.seed }, without: shrunk.without },
    runs: [{ seed: shrunk.seed }],
  })
  expect(await simulate(planted, '--replay', record)).toMatchObject({ replay: { same: true } })
})
