// slipway events: what Slipway said of updates, nodes and the rest, in the order of time.

import { type Command, Option } from 'commander'
import { directUpdates } from '../../api/direct-update.ts'
import { events, type KubeEvent, nodes, type ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { scheduledUpdates, updateSchedules } from '../../api/schedule.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { followCollection } from '../follow-collection.ts'
import { find, listAll } from '../read-cluster.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Column, cut, tableLines, widthOf, writeLines } from '../table.ts'
import { ageText } from '../time-text.ts'
import { wholeNumber } from '../usage.ts'

interface EventsOptions {
  readonly watch?: boolean
  readonly warnings?: boolean
  readonly last?: number
  readonly output: Format
}

/** One Event as it is told, also as data. */
interface ToldEvent {
  readonly at: string
  readonly type: string
  readonly reason: string
  readonly kind: string
  readonly name: string
  readonly related?: string
  readonly count: number
  readonly message: string
}

/** Events of cluster-scoped objects stand here. */
const namespace = 'default'

export function addEvents(parent: Command, run: RunAction): void {
  parent
    .command('events')
    .description(
      'Shows the Events of Slipway, the oldest first: all, or those of one update, node, profile or schedule. Clusters keep Events for an hour by default. With -w it goes on with what happens next.',
    )
    .argument('[update|node|profile]', 'only what is about it')
    .addOption(new Option('-w, --watch', 'go on until stopped; with --output json, a line for each'))
    .option('--warnings', 'only warnings')
    .option('--last <n>', 'only the last so many', wholeNumber(1, 100_000))
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway events
  slipway events w3 -w
  slipway events to-1-36 --warnings --output json`,
    )
    .action(run(runEvents))
}

async function runEvents(
  context: CommandContext,
  subject: string | undefined,
  options: EventsOptions,
): Promise<number> {
  if (options.watch) return watchEvents(context, subject, options)
  const { out, clock, signal } = context
  const { items } = await listAll(await context.api(), events, { namespace }, signal)
  const told = chosen(items, subject, options).slice(options.last === undefined ? 0 : -options.last)
  if (subject !== undefined && chosen(items, subject, { output: options.output }).length === 0)
    await mustBeSomething(context, subject)
  if (options.output !== 'table') await writeValue(context, options.output, told)
  else if (told.length === 0) out.write(`no Event${subject === undefined ? '' : ` of ${subject}`} is kept\n`)
  else writeLines(out, tableLines(columns(clock.now()), told, widthOf(out)))
  return exitCode.done
}

const subjects: readonly ResourceType[] = [
  ...[nodes, directUpdates, nodeProfiles, scheduledUpdates],
  ...[updateSchedules, maintenancePolicies],
]

/** That nothing was told of a mistyped name would say that all is quiet. */
async function mustBeSomething(context: CommandContext, name: string): Promise<void> {
  const api = await context.api()
  for (const type of subjects) {
    try {
      if (await find(api, type, { name }, context.signal)) return
    } catch (error) {
      // Who may not read it cannot say that it is not there.
      if (isKubeError(error, 'Forbidden')) return
      throw error
    }
  }
  throw new SlipwayError('NotFound', `nothing that Slipway tells of is named ${name}`, {
    nextStep: 'look at what there is: slipway status, slipway nodes',
  })
}

function chosen(
  items: Iterable<KubeEvent>,
  subject: string | undefined,
  { warnings = false }: EventsOptions,
): readonly ToldEvent[] {
  return [...items]
    .filter(({ reportingController }) => reportingController?.startsWith('slipway.dev/'))
    .filter(({ regarding, related }) => subject === undefined || [regarding.name, related?.name].includes(subject))
    .filter(({ type }) => !warnings || type === 'Warning')
    .map(told)
    .sort((a, b) => a.at.localeCompare(b.at))
}

function told({ metadata, eventTime, series, type, reason, regarding, related, note }: KubeEvent): ToldEvent {
  return {
    at: series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp,
    type,
    reason,
    kind: regarding.kind,
    name: regarding.name,
    ...(related && { related: `${related.kind}/${related.name}` }),
    count: series?.count ?? 1,
    message: note,
  }
}

const columns = (now: Date): readonly Column<ToldEvent>[] => [
  { title: 'AGO', value: ({ at }) => ageText(at, now) },
  { title: 'TYPE', spare: 2, value: ({ type }) => type },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'ABOUT', value: ({ kind, name }) => `${kind}/${name}` },
  { title: 'TIMES', spare: 1, value: ({ count }) => String(count) },
  { title: 'MESSAGE', value: ({ message }) => message.replaceAll('\n', ' ') },
]

async function watchEvents(
  context: CommandContext,
  subject: string | undefined,
  options: EventsOptions,
): Promise<number> {
  const { out, err, clock, signal } = context
  const { output, last } = options
  if (output === 'yaml')
    throw new SlipwayError('Usage', '-w writes lines or JSON lines, not YAML', { nextStep: 'leave -o yaml out, or -w' })
  const shown = new Map<string, string>()
  const following = {
    api: await context.api(),
    clock,
    type: events,
    selection: { namespace },
    onChange: (objects: ReadonlyMap<string, KubeEvent>) => {
      const isFirst = shown.size === 0
      const news = [...objects.values()].filter(({ metadata }) => shown.get(metadata.name) !== metadata.resourceVersion)
      for (const { metadata } of news) shown.set(metadata.name, metadata.resourceVersion)
      const lines = chosen(news, subject, options)
      for (const event of isFirst && last !== undefined ? lines.slice(-last) : lines) {
        out.write(`${output === 'json' ? JSON.stringify(event) : cut(lineOf(event), widthOf(out))}\n`)
      }
    },
    onTrouble: (error: unknown) => {
      if (context.options.quiet) return
      err.write(
        error === undefined ? 'the API server answers again\n' : 'the API server does not answer; trying again\n',
      )
    },
  }
  await followCollection(following, signal)
  return exitCode.interrupted
}

function lineOf({ at, type, reason, kind, name, count, message }: ToldEvent): string {
  const times = count > 1 ? ` (${count} times)` : ''
  return `${at.slice(0, 19)}Z ${type.padEnd(7)} ${reason} ${kind}/${name}: ${message.replaceAll('\n', ' ')}${times}`
}
