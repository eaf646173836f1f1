// slipway report: which nodes lag, since when, against a date.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'
import { kubernetesVersion } from '../../api/scalars.ts'
import { selectorText } from '../../core/label-selector.ts'
import { lagReport } from '../../core/report/lag-report.ts'
import { parseSelector } from '../../core/selector-text.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { listAll } from '../read-cluster.ts'
import { reportHtml } from '../report/report-html.ts'
import { reportColumns, summaryText, targetText } from '../report/report-text.ts'
import { writeValue } from '../structured-output.ts'
import { tableLines, widthOf, writeLines } from '../table.ts'
import { textOf } from '../usage.ts'

const formats = ['table', 'json', 'yaml', 'html'] as const

interface ReportOptions {
  readonly target?: string
  readonly patchedBy?: Date
  readonly selector?: string
  readonly output: (typeof formats)[number]
}

export function addReport(parent: Command, run: RunAction): void {
  parent
    .command('report')
    .description(
      'Tells for every node whether it lags, behind what and since when: Kubernetes against a version, reboots and maintenance the host asks for, drift from its profiles. What nobody recorded is said to be unknown. With --patched-by also which nodes missed the date.',
    )
    .option(
      '--target <version>',
      'hold the nodes against this version (default: the newest that hosts have on offer)',
      textOf(kubernetesVersion, 'It must be a version such as v1.36.3.'),
    )
    .option(
      '--patched-by <date>',
      'by when nodes had to be up to date: 2026-12-01 (its end, UTC) or an instant',
      instant,
    )
    .option('-l, --selector <labels>', 'only nodes with these labels, like pool=a')
    .addOption(new Option('-o, --output <format>', 'how the answer is written').choices(formats).default('table'))
    .addHelpText(
      'after',
      `
Examples:
  slipway report
  slipway report --target v1.36.3 --patched-by 2026-12-01
  slipway report --patched-by 2026-12-01 --output html > report.html

Exit codes: 0 no node missed the date, 3 some did, 4 cannot reach the API`,
    )
    .action(run(runReport))
}

async function runReport(context: CommandContext, options: ReportOptions): Promise<number> {
  const { out, clock, signal } = context
  const api = await context.api()
  const selection =
    options.selector === undefined ? {} : { labelSelector: selectorText(parseSelector(options.selector)) }
  const [found, states, updates] = await Promise.all([
    listAll(api, nodes, selection, signal),
    listAll(api, nodeStates, {}, signal),
    listAll(api, directUpdates, {}, signal),
  ])
  const byName = new Map(states.items.map((state) => [state.metadata.name, state]))
  const now = clock.now()
  const { target, patchedBy, output } = options
  const asked = { target, patchedBy, updates: updates.items }
  const report = lagReport({ now, nodes: found.items, stateOf: (name) => byName.get(name), ...asked })
  if (output === 'html') out.write(reportHtml(report, context.options.context))
  else if (output !== 'table') await writeValue(context, output, report)
  else {
    writeLines(out, tableLines(reportColumns(report, now), report.nodes, widthOf(out)))
    writeLines(out, ['', `${summaryText(report)}; held against ${targetText(report)}`])
  }
  return (report.summary.missed ?? 0) > 0 ? exitCode.blocked : exitCode.done
}

/** A day means its end. */
function instant(text: string): Date {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  const date = new Date(isDay ? `${text}T23:59:59.999Z` : text)
  // A day that no month has rolls over into the next one.
  const isReal = !Number.isNaN(date.getTime()) && (!isDay || date.toISOString().startsWith(text))
  if ((isDay || isInstant) && isReal) return date
  throw new InvalidArgumentError('It must be a day such as 2026-12-01 or an instant such as 2026-12-01T18:00:00Z.')
}
