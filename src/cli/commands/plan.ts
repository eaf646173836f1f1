// slipway plan: rehearses an update on this very cluster, in memory and in virtual time, and tells how it would go.

import { type Command, Option } from 'commander'
import type { CheckReport } from '../../api/preflight.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import type { Offers } from '../../core/versions/offers.ts'
import { needsOffers } from '../../core/versions/resolve.ts'
import { parseClusterSnapshot, readClusterSnapshot } from '../cluster-snapshot.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { findingsText, planFindings } from '../plan-findings.ts'
import { planText, shortPlan } from '../plan-text.ts'
import { withActivity } from '../progress/activity.ts'
import { readText } from '../read-text.ts'
import { refuseUnknownSkips } from '../refuse-unknown-skips.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Draft, type DraftOptions, draftUpdate } from '../update-draft.ts'
import { workOptions } from '../update-options.ts'
import { wholeNumber } from '../usage.ts'

interface PlanOptions extends DraftOptions {
  readonly snapshot?: string
  readonly seed: number
  readonly rehearsals?: number
  readonly rehearse?: number
  readonly nodes?: true
  readonly namespace: string
  readonly output: Format
}

export function addPlan(parent: Command, run: RunAction): void {
  const command = parent
    .command('plan')
    .description(
      'Reads the cluster (reading rights suffice), then rehearses the update on it several times, in memory: the real operator and agents, pretended hosts, virtual time. Nothing is written to the cluster. What every rehearsal meets for a reason that lasts is certain, the rest possible.',
    )
  for (const option of workOptions()) command.addOption(option)
  command
    .addOption(new Option('--snapshot <file>', 'plan for a saved cluster: slipway snapshot > cluster.json'))
    .option(
      '--rehearsals <count>',
      'how often it is rehearsed (by default as often as the size allows)',
      wholeNumber(1, 20),
    )
    .option(
      '--rehearse <nodes>',
      'how many nodes are rehearsed at most (default: all of up to 100, of more 60); of the others every pod is looked at',
      wholeNumber(1, 10_000),
    )
    .option('--namespace <name>', "the operator's namespace", 'slipway-system')
    .option('--nodes', 'name every node of each wave, however many')
    .option('--seed <number>', 'chance of the rehearsals', wholeNumber(0, 1_000_000_000), 1)
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway plan --kubernetes v1.36.3 --max-unavailable 10%
  slipway plan -f update.yaml --output json
  slipway plan -f update.yaml --snapshot cluster.json

Exit codes: 0 nothing certain is in its way, 2 wrong usage,
            3 blocked for certain or refused by preflight,
            4 cannot reach the API`,
    )
    .action(run(runPlan))
}

async function runPlan(context: CommandContext, options: PlanOptions): Promise<number> {
  const { signal, out } = context
  context.spareMemory()
  const draft = await draftUpdate(context, options)
  const { snapshot, findings, offers } = await withActivity(context, 'reading the cluster', () =>
    readCluster(context, options, draft),
  )
  const { metadata, spec } = draft.update
  const { seed, rehearsals, rehearse: nodesAtMost, nodes = false } = options
  const wish = { seed, ...(rehearsals && { rehearsals }), ...(nodesAtMost && { nodesAtMost }) }
  const planned = { snapshot, update: { name: metadata.name, spec }, ...(offers && { offers }) }
  const report = await withActivity(context, 'rehearsing', (activity) => {
    const onRehearsal = (done: number, of: number) => activity.at(`rehearsal ${done} of ${of} done`, done, of)
    return context.runPlan({ ...planned, ...wish, onRehearsal }, signal)
  })
  if (options.output === 'table') out.write(`${planText(report, nodes)}${findingsText(findings)}`)
  else await writeValue(context, options.output, { ...(nodes ? report : shortPlan(report)), preflight: findings })
  if (signal.aborted) return exitCode.interrupted
  const isRefused = findings.some(({ result }) => result === 'Failed')
  return report.verdict === 'blocked' || isRefused ? exitCode.blocked : exitCode.done
}

interface ReadCluster {
  readonly snapshot: ClusterSnapshot
  readonly findings: readonly CheckReport[]
  readonly offers?: Offers
}

/** Without Slipway's kinds no agent has reported: there is nothing to check yet. */
async function readCluster(context: CommandContext, options: PlanOptions, draft: Draft): Promise<ReadCluster> {
  const { snapshot: path } = options
  const { spec } = draft.update
  if (path !== undefined) {
    const snapshot = parseClusterSnapshot(await readText(context, path), path)
    refuseUnknownSkips(spec, snapshot.nodes)
    return { snapshot, findings: [] }
  }
  const api = await context.api()
  const snapshot = await readClusterSnapshot(api, context.clock, context.signal)
  refuseUnknownSkips(spec, snapshot.nodes)
  if (!snapshot.installed) return { snapshot, findings: [] }
  const isAsked = needsOffers(spec)
  const offers = isAsked ? await context.versionsOnOffer(api, options.namespace, context.signal) : undefined
  const findings = await planFindings(context, api, draft, snapshot, offers)
  return { snapshot, findings, ...(offers && { offers }) }
}
