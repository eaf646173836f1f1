// docs/reference/drivers.md: which property of which driver was seen on a booted machine. Pure.

import { type ConformanceResult, type Property, properties } from './conformance-results.ts'
import { sampledOnly } from './sampled-only.ts'

const unproven = 'not proven on a real host'
const noCase = 'no case yet'
const columns = Object.keys(properties) as Property[]

/** The rows of an earlier table by their first cell. */
export function rowsOf(table: string): ReadonlyMap<string, string> {
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  return new Map(rows.map((line) => [/^\| `([^`]+)`/.exec(line)?.[1] ?? '', line]))
}

/** What was run now overrules the earlier table; a driver nobody has run yet says so. */
export function driversTable(
  drivers: readonly string[],
  results: readonly ConformanceResult[],
  earlier: ReadonlyMap<string, string>,
): string {
  const rows = drivers.flatMap((driver) => rowsOfDriver(driver, results, earlier))
  const titles = columns.map((column) => properties[column])
  const rule = columns.map(() => '---|').join('')
  return `${head}\n| driver | command line | ${titles.join(' | ')} |\n|---|---|${rule}\n${rows.join('\n')}\n`
}

function rowsOfDriver(
  driver: string,
  results: readonly ConformanceResult[],
  earlier: ReadonlyMap<string, string>,
): readonly string[] {
  const fresh = results.filter((result) => result.driver === driver)
  const recorded = sampledOnly.filter((row) => row.driver === driver).map(({ name }) => name)
  const kept = [...earlier].filter(
    ([name, line]) =>
      (name === driver || name.startsWith(`${driver} (`)) &&
      ![unproven, noCase].some((word) => line.includes(`| ${word} |`)) &&
      !fresh.some((result) => result.name === name),
  )
  const proven = [...fresh.map(resultRow), ...kept.map(([, line]) => line)].toSorted()
  const own = proven.length > 0 ? proven : [unseenRow(driver, noCase)]
  return [...own, ...recorded.map((name) => unseenRow(name, unproven))]
}

function resultRow({ name, tool = '–', seen }: ConformanceResult): string {
  return `| \`${name}\` | ${tool} | ${columns.map((column) => seen[column] ?? '**failed**').join(' | ')} |`
}

function unseenRow(name: string, why: string): string {
  return `| \`${name}\` | – | ${columns.map((_, index) => (index === 0 ? why : '–')).join(' | ')} |`
}

const head = `<!-- Generated from a run by make conformance; do not edit. -->
# Drivers

What the conformance suite saw each driver do on a booted machine, driven by the real agent: \`make conformance\`.

- **command line**: the tool the driver worked through, and what it said it is.
- **verified by looking**: its effect was not there before and was there after, looked at without the driver.
- **twice**: a second order of the same work finds it done.
- **killed in the middle**: the agent was killed after every file it wrote to its journal, and once inside every step: a third of its time
  after it began, or at the latest before the journal said it was done.
- **power loss**: every process of the machine was killed at once, at moments drawn from fixed seeds, each before the order's end was on record.
- **undo**: after the work failed at its end, the machine was as before.

“${unproven}”: tested only against what people recorded of the real tool, see test/samples/recorded-output.ts.
“${noCase}”: the suite has none for this driver; tests beside its source are all that speaks for it, and the clusters of \`make e2e\`.
The image tools \`rpm-ostree\` and \`bootc\` are their engine behind a front of our own, see test/bed/osimage/front.
The version of \`dockerd\` is no release: Debian has one at a time, so its package was given a later number, see test/bed/docker-packages.ts.
`
