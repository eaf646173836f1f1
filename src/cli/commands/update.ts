// slipway update: makes a DirectUpdate (and the ConfigMap of its script) and follows it to its end.

import type { Command } from 'commander'
import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { isKubeError, type KubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { followUpdate, readSnapshot } from '../follow-update.ts'
import { progressSink } from '../progress/choose-sink.ts'
import type { ProgressSink } from '../progress/sink.ts'
import { progressView } from '../progress/view.ts'
import { find, kindMissing } from '../read-cluster.ts'
import { refuseUnplanned, remark } from '../refuse-unplanned.ts'
import { storeScript } from '../script-content.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Draft, type DraftOptions, draftUpdate } from '../update-draft.ts'
import { workOptions } from '../update-options.ts'
import { outcomeCode } from '../update-outcome.ts'
import { updateReport } from '../update-report.ts'
import { signed } from '../who-am-i.ts'

interface UpdateOptions extends DraftOptions {
  readonly namespace: string
  readonly wait: boolean
  readonly output: Format
}

export function addUpdate(parent: Command, run: RunAction): void {
  const command = parent
    .command('update')
    .description(
      'Makes a DirectUpdate and follows it to its end: a live picture on a terminal, plain lines otherwise (times are UTC). Ctrl-C stops following, not the update.',
    )
  for (const option of workOptions()) command.addOption(option)
  command
    .option('--namespace <name>', "the operator's namespace", 'slipway-system')
    .option('--no-wait', 'do not follow it')
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway update --kubernetes v1.36.3 --max-unavailable 10%
  slipway update --kubernetes v1.36.3 --strategy Canary --soak 30m
  slipway update --os-packages Security --reboot IfRequired
  slipway update --os-image registry.example/os:42 --max-unavailable 2
  slipway update --kubernetes v1.36.3 --backup Required --backup-store nightly --backup-verify Restore
  slipway update --script rotate-disks.sh --selector pool=a
  slipway update -f update.yaml --no-wait

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused or in need of a person,
            4 cannot reach the API`,
    )
    .action(run(runUpdate))
}

async function runUpdate(context: CommandContext, options: UpdateOptions): Promise<number> {
  const { clock, signal, out } = context
  const draft = await draftUpdate(context, options)
  const api = await context.api()
  const reports = await refuseUnplanned(context, api, draft, options.namespace)
  if (draft.script) await storeScript(api, options.namespace, draft.script, signal)
  const metadata = await signed(api, draft.update.metadata, signal)
  const update = await createUpdate(api, { ...draft.update, metadata }, signal)
  for (const report of reports) remark(context, report)
  const { name } = update.metadata
  if (!options.wait) {
    if (options.output === 'table') out.write(`${name} created; follow it: slipway status ${name} -w\n`)
    else
      await writeValue(
        context,
        options.output,
        updateReport(progressView(await readSnapshot(api, update, clock, signal)), update),
      )
    return exitCode.done
  }
  const sink = progressSink(context, options.output === 'table' ? 'lines' : 'none')
  return followToEnd(context, api, update, sink, options.output)
}

/** Follows an update, tells how it ended, and answers with the exit code; shared with `status -w`. */
export async function followToEnd(
  context: CommandContext,
  api: KubeApi,
  update: DirectUpdate,
  sink: ProgressSink,
  output: Format,
): Promise<number> {
  const { clock, signal, err } = context
  const { name } = update.metadata
  try {
    const { snapshot, deleted } = await followUpdate({ api, clock, sink, update }, signal)
    if (output !== 'table') await writeValue(context, output, updateReport(progressView(snapshot), snapshot.update))
    if (deleted) {
      throw new SlipwayError('Refused', `DirectUpdate ${name} was deleted before its end`, {
        nextStep: 'see how the nodes stand: slipway nodes',
      })
    }
    const code = outcomeCode(snapshot.update)
    if (code !== exitCode.done && output === 'table') err.write(`next: slipway why ${name}\n`)
    return code
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.code !== 'Stopped') throw error
    err.write(`the update goes on; follow it again: slipway status ${name} -w\n`)
    return exitCode.interrupted
  }
}

async function createUpdate(api: KubeApi, update: Draft['update'], signal: AbortSignal): Promise<DirectUpdate> {
  try {
    return await api.create(
      directUpdates,
      { apiVersion: directUpdates.apiVersion, kind: directUpdates.kind, ...update },
      signal,
    )
  } catch (error) {
    if (isKubeError(error, 'NotFound')) throw kindMissing(directUpdates, error)
    if (isKubeError(error, 'AlreadyExists')) {
      throw new SlipwayError('Usage', `there is a DirectUpdate named ${update.metadata.name} already`, {
        nextStep: `choose another --name, or look at it: slipway status ${update.metadata.name}`,
        cause: error,
      })
    }
    if (isKubeError(error, 'Unreachable', 'Timeout', 'ServerError'))
      return await madeAllTheSame(api, update, error, signal)
    throw error
  }
}

/** The answer was lost: it may be there. Where a person chose the name, one that is at its end already is of another day. */
async function madeAllTheSame(
  api: KubeApi,
  { metadata, spec }: Draft['update'],
  error: KubeError,
  signal: AbortSignal,
): Promise<DirectUpdate> {
  const { name } = metadata
  const found = await find(api, directUpdates, { name }, signal).catch(() => undefined)
  if (found && equalJson(found.spec, spec) && !isEndedPhase(found.status?.phase)) return found
  throw new SlipwayError('CannotReach', `DirectUpdate ${name} may have been made or not: ${error.message}`, {
    nextStep: `look: slipway status ${name}; if it is not there, make it again with --name ${name}`,
    cause: error,
  })
}
