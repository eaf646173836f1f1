import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { complaints } from '../proof/complaints.ts'
import { keptResults } from '../proof/kept-results.ts'
import { proofPoints } from '../proof/proof-points.ts'
import { reliabilityPage, scalePage } from '../proof/reliability-page.ts'
import type { Results } from '../proof/results.ts'
import { repository } from './planted-tree.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')

const run = { date: '2026-01-02', commit: 'abc1234', command: 'make it' }
const results: Results = {
  'fault-runs': {
    ...{ ...run, earlierCommits: ['fff0000'], seeds: { first: 1, last: 2000 }, runs: 2000, violations: 3 },
    ...{ cpuSeconds: 20, faults: { 'power-loss Working': 7, 'power-loss Done': 1 } },
    pairs: { all: 378, struck: 370, impossible: 8 },
  },
  exhaustive: undefined,
  preview: undefined,
  why: { ...run, situations: 77, questions: 99, codes: 50, codesAsked: 49 },
  'api-server': undefined,
  requests: { ...run, controlPlanes: 1, workers: 2, replicas: 2, requests: 5000, failed: 4, seconds: 600 },
  'requests-ha': undefined,
  bench: undefined,
  'large-plan': undefined,
}

describe('docs/reliability.md', () => {
  test('is what docs/proof and the list of complaints say: run make reliability', () => {
    expect(read('docs/reliability.md')).toBe(reliabilityPage(keptResults(), complaints))
  })

  test('so is docs/scale.md', () => {
    expect(read('docs/scale.md')).toBe(scalePage(keptResults()))
  })

  test('shows what was measured, where and when, and says so where nothing was', () => {
    const page = reliabilityPage(results, complaints)
    expect(page).toContain('2,000 runs, seeds 1 to 2000: 3 broke a rule')
    expect(page).toContain('2026-01-02, commit abc1234, begun on fff0000')
    expect(page).toContain('| power-loss | 1 | 7 |')
    expect(page).toContain('5,000 requests in 10 minutes, 4 failed')
    expect(page.match(/^Not run yet\.$/gm)).toHaveLength(4)
  })

  test('each command of it stands in README or CONTRIBUTING', () => {
    const texts = read('README.md') + read('CONTRIBUTING.md')
    const all = proofPoints(results).flatMap(({ commands }) => commands)
    expect(all.filter((command) => !texts.includes(command))).toEqual([])
  })
})

describe('the complaints about other tools', () => {
  test('are twenty-five, each answered by a test or put off with a reason', () => {
    expect(complaints).toHaveLength(25)
    const open = complaints.filter(({ tests, notYet }) => tests.length === 0 && notYet === undefined)
    expect(open.map(({ complaint }) => complaint)).toEqual([])
  })

  test('name tests that are there', () => {
    const named = complaints.flatMap(({ tests }) => tests)
    const missing = named.filter(
      ({ file, title }) => !(existsSync(join(repository, file)) && read(file).includes(`'${title}'`)),
    )
    expect(missing).toEqual([])
  })
})
