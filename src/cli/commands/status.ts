// slipway status: how updates stand, what waits, and why.

import { type Command, Option } from 'commander'
import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { type KubeObject, nodes, type ResourceType } from '../../api/kube.ts'
import { type NodeProfile, nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { selects } from '../../core/label-selector.ts'
import { isEnded } from '../../core/update/outcome.ts'
import { targetText } from '../../core/update/target-text.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { readSnapshot } from '../follow-update.ts'
import { progressSink } from '../progress/choose-sink.ts'
import { countsText, detailText } from '../progress/picture.ts'
import { type NodeProgress, type ProgressView, progressView } from '../progress/view.ts'
import { listAll, mustFind, readPolicy } from '../read-cluster.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Column, fewNames, tableLines, widthOf, writeLines } from '../table.ts'
import { ageText } from '../time-text.ts'
import { outcomeCode } from '../update-outcome.ts'
import { updateReport } from '../update-report.ts'
import { followToEnd } from './update.ts'

interface StatusOptions {
  readonly watch?: boolean
  readonly output: Format
}

export function addStatus(parent: Command, run: RunAction): void {
  parent
    .command('status')
    .description(
      'Shows all updates, or one of them in full. With -w it follows one to its end; with --output json, a line for each change.',
    )
    .argument('[name]', 'one DirectUpdate')
    .addOption(new Option('-w, --watch', 'follow it to its end'))
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway status
  slipway status to-1-36 -w
  slipway status to-1-36 --output json

With NAME the exit code tells how it stands: 0 done or under way, 1 failed,
3 refused or in need of a person.`,
    )
    .action(run(runStatus))
}

async function runStatus(context: CommandContext, name: string | undefined, options: StatusOptions): Promise<number> {
  const api = await context.api()
  if (options.watch) {
    if (options.output === 'yaml')
      throw new SlipwayError('Usage', '-w writes a table or JSON lines, not YAML', {
        nextStep: 'leave -o yaml out, or -w',
      })
    const update =
      name === undefined ? await newestUpdate(context) : await mustFind(api, directUpdates, { name }, context.signal)
    // With JSON the last line is the last state, so nothing is left to print.
    const sink = progressSink(context, options.output === 'json' ? 'json-lines' : 'lines')
    return followToEnd(context, api, update, sink, 'table')
  }
  return name === undefined ? showAll(context, options.output) : showOne(context, name, options.output)
}

async function showAll(context: CommandContext, output: Format): Promise<number> {
  const { out, clock, signal } = context
  const api = await context.api()
  const [{ items }, policy, profiles] = await Promise.all([
    listAll(api, directUpdates, {}, signal),
    readPolicy(api, signal),
    output === 'table' ? everyOne(api, nodeProfiles, signal) : [],
  ])
  // What an ended update came to stands in its own status; the nodes are read only for one that is under way.
  const [allNodes, states] = items.every(isEnded)
    ? [[], []]
    : await Promise.all([everyOne(api, nodes, signal), everyOne(api, nodeStates, signal)])
  const now = clock.now()
  const views = [...items].sort(newestFirst).map((update) => {
    const selected = allNodes.filter((node) => selects(update.spec.nodeSelector, node.metadata.labels))
    return { update, view: progressView({ now, update, nodes: selected, nodeStates: states, policy }) }
  })
  if (output !== 'table') {
    await writeValue(
      context,
      output,
      views.map(({ view, update }) => updateReport(view, update)),
    )
    return exitCode.done
  }
  if (policy?.spec.paused) out.write('MaintenancePolicy/default is paused: nothing new starts\n')
  if (policy?.status?.rollCall) out.write(`${policy.status.rollCall.reason.message}\n`)
  if (views.length === 0) out.write('there are no updates; make one: slipway update --help\n')
  else writeLines(out, tableLines(listColumns, views, widthOf(out)))
  if (profiles.length > 0) writeLines(out, ['', ...tableLines(profileColumns, profiles, widthOf(out))])
  return exitCode.done
}

async function everyOne<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  return (await listAll(api, type, {}, signal)).items
}

function newestFirst(a: DirectUpdate, b: DirectUpdate): number {
  return (
    b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp) ||
    a.metadata.name.localeCompare(b.metadata.name)
  )
}

interface Listed {
  readonly update: DirectUpdate
  readonly view: ProgressView
}

const listColumns: readonly Column<Listed>[] = [
  { title: 'NAME', value: ({ view }) => view.name },
  { title: 'PHASE', value: ({ view }) => view.phase },
  { title: 'DONE', value: ({ view }) => `${view.counts.done}/${view.counts.total}` },
  { title: 'WAVE', spare: 4, value: ({ view }) => waveText(view) },
  { title: 'WORKING', spare: 2, value: ({ view }) => String(view.counts.working) },
  { title: 'WAITING', spare: 1, value: ({ view }) => String(view.counts.waiting) },
  { title: 'FAILED', value: ({ view }) => String(view.counts.failed) },
  { title: 'TARGET', spare: 5, value: ({ update }) => targetText(update) },
  { title: 'AGE', spare: 3, value: ({ update, view }) => ageText(update.metadata.creationTimestamp, view.now) },
  { title: 'WHY', value: ({ view }) => whyText(view) },
]

const profileColumns: readonly Column<NodeProfile>[] = [
  { title: 'PROFILE', value: ({ metadata }) => metadata.name },
  { title: 'PHASE', value: ({ status }) => status?.phase ?? 'Pending' },
  { title: 'APPLIED', value: ({ status }) => `${status?.nodes?.applied ?? 0}/${status?.nodes?.total ?? 0}` },
  { title: 'DRIFTED', value: ({ status }) => String(status?.nodes?.drifted ?? 0) },
  { title: 'FAILED', value: ({ status }) => String(status?.nodes?.failed ?? 0) },
  { title: 'WHY', value: profileWhy },
]

/** Why it is not applied everywhere, or what has drifted. */
function profileWhy({ status }: NodeProfile): string {
  const said = (type: string, holds: string) =>
    status?.conditions?.find((condition) => condition.type === type && condition.status === holds)
  const found = said('Accepted', 'False') ?? said('Applied', 'False') ?? said('Drifted', 'True')
  return found ? `${found.reason}: ${found.message}` : ''
}

/** The wave that is not done yet, of how many. */
function waveText({ waves, ended }: ProgressView): string {
  const at = waves.findIndex(({ counts }) => counts.done + counts.skipped < counts.total)
  const wave = waves[at]
  return ended || !wave ? '-' : `${at + 1}/${waves.length} ${wave.title}`
}

/** The most urgent thing it waits for. */
function whyText({ refusal, waits }: ProgressView): string {
  if (refusal) return `${refusal.code}: ${refusal.message}`
  const [first, ...more] = waits
  if (!first) return ''
  return `${fewNames(first.nodes)} ${first.phase}: ${first.reason.message}${more.length > 0 ? ` (and ${more.length} more)` : ''}`
}

async function showOne(context: CommandContext, name: string, output: Format): Promise<number> {
  const { out, clock, signal } = context
  const api = await context.api()
  const update = await mustFind(api, directUpdates, { name }, signal)
  const view = progressView(await readSnapshot(api, update, clock, signal))
  if (output === 'table') writeLines(out, detailLines(view, update, widthOf(out)))
  else await writeValue(context, output, updateReport(view, update))
  return outcomeCode(update)
}

function detailLines(view: ProgressView, update: DirectUpdate, width: number): readonly string[] {
  const members = view.waves.flatMap((wave) => wave.nodes)
  const conditions = update.status?.conditions ?? []
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Update', view.name],
    ['Phase', view.phase],
    ['Refused', view.refusal && `${view.refusal.code}: ${view.refusal.message}`],
    ['Target', view.current ? `${view.target} (from ${view.current})` : view.target],
    ['Nodes', countsText(view.counts)],
    ['Started', view.startedAt && `${view.startedAt} (${ageText(view.startedAt, view.now)} ago)`],
    ['Finished', view.finishedAt],
    ['Operation', update.status?.operationID],
    ['Course', view.course],
    ...(update.status?.warnings ?? []).map(({ code, message }) => ['Warning', `${code}: ${message}`] as const),
    ['Policy', view.paused ? 'MaintenancePolicy/default is paused: nothing new starts' : undefined],
    ...view.waves.map((wave, index) => [`Wave ${index + 1}`, `${wave.title}: ${countsText(wave.counts)}`] as const),
  ]
  return [
    ...facts.flatMap(([title, value]) => (value === undefined ? [] : [`${`${title}:`.padEnd(12)}${value}`])),
    ...(members.length > 0 ? ['', ...tableLines(nodeColumns(view.now), members, width)] : []),
    ...(conditions.length > 0 ? ['', ...tableLines(conditionColumns(view.now), conditions, width)] : []),
  ]
}

function nodeColumns(now: Date): readonly Column<NodeProgress>[] {
  return [
    { title: 'NODE', value: (node) => node.name },
    { title: 'ROLE', value: (node) => node.role },
    { title: 'PHASE', value: (node) => node.phase },
    { title: 'SINCE', value: (node) => ageText(node.since, now) },
    { title: 'DETAIL', value: (node) => detailText(node) },
  ]
}

function conditionColumns(
  now: Date,
): readonly Column<NonNullable<NonNullable<DirectUpdate['status']>['conditions']>[number]>[] {
  return [
    { title: 'CONDITION', value: (condition) => condition.type },
    { title: 'STATUS', value: (condition) => condition.status },
    { title: 'REASON', value: (condition) => condition.reason },
    { title: 'SINCE', value: (condition) => ageText(condition.lastTransitionTime, now) },
    { title: 'MESSAGE', value: (condition) => condition.message },
  ]
}

/** `status -w` without a name follows the newest update. */
async function newestUpdate(context: CommandContext): Promise<DirectUpdate> {
  const { items } = await listAll(await context.api(), directUpdates, {}, context.signal)
  const newest = [...items].sort(newestFirst)[0]
  if (newest) return newest
  throw new SlipwayError('NotFound', 'there is no update to follow', { nextStep: 'make one: slipway update --help' })
}
