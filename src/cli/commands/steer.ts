// slipway pause, resume, cancel, retry, skip, approve: what a person says to an update that runs.

import type { Command } from 'commander'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { objectName } from '../../api/scalars.ts'
import { selfSubjectReviews } from '../../api/self-review.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { mustFind } from '../read-cluster.ts'
import { textOf } from '../usage.ts'

/** As a merge patch: null takes out what an earlier word left. */
type Steering = Pick<DirectUpdateSpec, 'desiredState' | 'onCancel' | 'skip' | 'approvals'> & {
  readonly retry?: { readonly token: string; readonly nodes: readonly string[] | null }
}

/** What to write, and the sentence for the person; throws where it makes no sense. */
type Decide = (update: DirectUpdate) => { readonly spec: Steering; readonly said: string }

const nodeName = textOf(objectName, 'It must be the name of a node.')
const names = (value: string, before: readonly string[] | undefined) => [...(before ?? []), nodeName(value)]

export function addSteering(parent: Command, run: RunAction): void {
  parent
    .command('pause')
    .summary('let an update finish what is under work, and start nothing new')
    .argument('<name>', 'a DirectUpdate')
    .action(run((context, name: string) => steer(context, name, pause)))
  parent
    .command('resume')
    .summary('let a paused update go on')
    .argument('<name>', 'a DirectUpdate')
    .action(run((context, name: string) => steer(context, name, resume)))
  parent
    .command('cancel')
    .summary('end an update before its end')
    .description(
      'Ends an update: nothing new starts, nodes that only drain are put back. Nodes that have begun finish, or with --put-back undo what they did where that is possible.',
    )
    .argument('<name>', 'a DirectUpdate')
    .option('--put-back', 'take back what has begun, where all of it can be undone')
    .action(
      run((context, name: string, { putBack }: { readonly putBack?: boolean }) =>
        steer(context, name, cancel(putBack ?? false)),
      ),
    )
  parent
    .command('retry')
    .summary('try nodes again that failed or need a person')
    .argument('<name>', 'a DirectUpdate')
    .argument('[node...]', 'only these; by default all of them', names)
    .action(
      run((context, name: string, nodes: readonly string[] | undefined) =>
        steer(context, name, retry(nodes ?? [], context.random.uuid())),
      ),
    )
  parent
    .command('skip')
    .summary('leave nodes out of an update')
    .description(
      'Leaves nodes out that were not taken yet. A failed one stays as it is, and keeps the others up no more.',
    )
    .argument('<name>', 'a DirectUpdate')
    .argument('<node...>', 'the nodes', names)
    .action(run((context, name: string, nodes: readonly string[]) => steer(context, name, skip(nodes))))
  parent
    .command('approve')
    .summary('let the next wave of an update begin')
    .argument('<name>', 'a DirectUpdate')
    .option('--by <who>', 'who approves (default: the user the API server knows you as)')
    .action(
      run(async (context, name: string, { by }: { readonly by?: string }) =>
        steer(context, name, approve(by ?? (await whoAmI(context)), context.clock.now())),
      ),
    )
}

async function steer(context: CommandContext, name: string, decide: Decide): Promise<number> {
  const { out, signal } = context
  const api = await context.api()
  for (;;) {
    const update = await mustFind(api, directUpdates, { name }, signal)
    const { spec, said } = decide(update)
    const { uid, resourceVersion } = update.metadata
    const body = { metadata: { uid, resourceVersion }, spec }
    try {
      await api.patch(directUpdates, { name }, { type: 'merge', body }, signal)
    } catch (error) {
      // Somebody wrote meanwhile: what was decided may be another by now.
      if (isKubeError(error, 'Conflict')) continue
      throw error
    }
    out.write(`${name}: ${said}\n`)
    return exitCode.done
  }
}

const pause: Decide = (update) => {
  mustRun(update, 'pause')
  return { spec: { desiredState: 'Paused' }, said: 'paused; what is under work is finished, nothing new starts' }
}

const resume: Decide = (update) => {
  const { name } = update.metadata
  mustRun(update, 'resume')
  if (update.spec.desiredState === 'Cancelled') throw refused(`${name} is being cancelled`, 'make another update')
  if (update.spec.desiredState !== 'Paused') throw refused(`${name} is not paused`, `see: slipway status ${name}`)
  return { spec: { desiredState: 'Running' }, said: 'goes on' }
}

function cancel(putBack: boolean): Decide {
  return (update) => {
    mustRun(update, 'cancel')
    const said = putBack
      ? 'cancelled; nodes under work are put back where that is possible'
      : 'cancelled; nodes that have begun are finished, nothing new starts'
    return { spec: { desiredState: 'Cancelled', onCancel: putBack ? 'PutBack' : 'Finish' }, said }
  }
}

function retry(nodes: readonly string[], uuid: string): Decide {
  return (update) => {
    const { name } = update.metadata
    const { phase, summary, nodes: listed = [] } = update.status ?? {}
    const broken = listed.filter((node) => node.phase === 'Failed' || node.phase === 'RequiresAttention')
    if (phase === 'Cancelled') throw refused(`${name} was cancelled`, 'make another update')
    if (phase !== 'Failed' && broken.length === 0 && (summary?.failed ?? 0) === 0) {
      throw refused(`no node of ${name} failed or needs a person`, `see: slipway status ${name}`)
    }
    const token = uuid.slice(0, 8)
    const which =
      nodes.length > 0
        ? nodes.join(', ')
        : broken
            .map((node) => node.name)
            .slice(0, 5)
            .join(', ')
    return {
      spec: { retry: { token, nodes: nodes.length > 0 ? nodes : null } },
      said: which === '' ? 'is tried again' : `${which} tried again; follow it: slipway status ${name} -w`,
    }
  }
}

function skip(nodes: readonly string[]): Decide {
  return (update) => {
    const { name } = update.metadata
    const skipped = [...new Set([...(update.spec.skip ?? []), ...nodes])]
    const isFailed = update.status?.phase === 'Failed'
    const more = isFailed ? `; let the others go on: slipway retry ${name}` : ''
    return { spec: { skip: skipped }, said: `leaves out ${skipped.join(', ')}${more}` }
  }
}

function approve(by: string, now: Date): Decide {
  return ({ metadata, spec, status }) => {
    const { wave, operationID = '' } = status ?? {}
    if (!wave?.promotion) {
      const where = wave ? `wave ${wave.index + 1} of ${wave.of} is not done` : 'it has not come to its waves'
      throw refused(`${metadata.name} waits for no approval: ${where}`, `see: slipway status ${metadata.name}`)
    }
    const approval = { operationID, wave: wave.index, by, at: now.toISOString() }
    // Those of earlier runs are of no use any more.
    const kept = (spec.approvals ?? []).filter((one) => one.operationID === operationID && one.wave !== wave.index)
    return {
      spec: { approvals: [...kept, approval] },
      said: `wave ${wave.index + 1} of ${wave.of} approved by ${by}; the next begins`,
    }
  }
}

function mustRun({ metadata, status }: DirectUpdate, what: string): void {
  if (!isEndedPhase(status?.phase)) return
  throw refused(
    `${metadata.name} is ${status?.phase}: there is nothing to ${what}`,
    `see: slipway status ${metadata.name}`,
  )
}

function refused(message: string, nextStep: string): SlipwayError {
  return new SlipwayError('Refused', message, { nextStep })
}

/** As the API server knows the caller; it may not tell. */
async function whoAmI(context: CommandContext): Promise<string> {
  const { apiVersion, kind } = selfSubjectReviews
  const api = await context.api()
  const review = await api
    .create(selfSubjectReviews, { apiVersion, kind, metadata: { name: '' } }, context.signal)
    .catch((error: unknown) => (isKubeError(error, 'Forbidden', 'NotFound') ? undefined : Promise.reject(error)))
  return review?.status?.userInfo?.username ?? 'unknown'
}
