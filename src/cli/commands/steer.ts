// slipway pause, resume, cancel, retry, skip, approve, run-now: what a person says to an update that runs; retry also to a profile.

import type { Command } from 'commander'
import { directUpdates } from '../../api/direct-update.ts'
import { type KubeObject, nodes as nodeType, type ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { objectName } from '../../api/scalars.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type Retry, runNowSchema } from '../../api/steering.ts'
import {
  approve,
  cancel,
  type Decide,
  pause,
  resume,
  retry,
  runNow,
  skip,
} from '../../core/steering/decide-steering.ts'
import { retryProfile } from '../../core/steering/retry-profile.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { listAll, mustFind } from '../read-cluster.ts'
import { textOf } from '../usage.ts'
import { whoAmI } from '../who-am-i.ts'

const nodeName = textOf(objectName, 'It must be the name of a node.')
const reasonText = textOf(runNowSchema.shape.reason, 'It must say why, in at most 256 characters.')
const names = (value: string, before: readonly string[] | undefined) => [...(before ?? []), nodeName(value)]

export function addSteering(parent: Command, run: RunAction): void {
  parent
    .command('pause')
    .description(
      'Pauses an update: what is under work is finished, nothing new starts. The nodes that wait stay as they are.',
    )
    .argument('<name>', 'a DirectUpdate')
    .addHelpText('after', '\nExample:\n  slipway pause to-1-36')
    .action(run((context, name: string) => steer(context, name, pause)))
  parent
    .command('resume')
    .description('Ends a pause: what waited goes on.')
    .argument('<name>', 'a DirectUpdate')
    .addHelpText('after', '\nExample:\n  slipway resume to-1-36')
    .action(run((context, name: string) => steer(context, name, resume)))
  parent
    .command('cancel')
    .description(
      'Ends an update: nothing new starts, nodes that only drain are put back. Nodes that have begun finish, or with --put-back undo what they did where that is possible.',
    )
    .argument('<name>', 'a DirectUpdate')
    .option('--put-back', 'take back what has begun, where all of it can be undone')
    .addHelpText('after', '\nExamples:\n  slipway cancel to-1-36\n  slipway cancel to-1-36 --put-back')
    .action(
      run((context, name: string, { putBack }: { readonly putBack?: boolean }) =>
        steer(context, name, cancel(putBack ?? false)),
      ),
    )
  parent
    .command('retry')
    .description('Tries nodes again that failed or need a person: all of them, or those named.')
    .argument('<name>', 'a DirectUpdate, or with --profile a NodeProfile')
    .argument('[node...]', 'only these; by default all of them', names)
    .option('--profile', 'the name is that of a NodeProfile that rolls out by itself')
    .addHelpText(
      'after',
      '\nExamples:\n  slipway retry to-1-36\n  slipway retry to-1-36 w3 w4\n  slipway retry --profile base w3',
    )
    .action(
      run(
        async (
          context,
          name: string,
          nodes: readonly string[] | undefined,
          options: { readonly profile?: boolean },
        ) => {
          const [only, uuid] = [nodes ?? [], context.random.uuid()]
          const states = (before: Retry | undefined) => (before && only.length > 0 ? statesNow(context) : undefined)
          if (!options.profile)
            return patchSpec(context, directUpdates, name, async (found) =>
              retry(only, uuid, await states(found.spec.retry))(found),
            )
          await mustBeNodes(context, only)
          return patchSpec(context, nodeProfiles, name, async (found) =>
            retryProfile(found, only, uuid, await states(found.spec.retry)),
          )
        },
      ),
    )
  parent
    .command('skip')
    .description(
      'Leaves nodes out that were not taken yet. A failed one stays as it is, and keeps the others up no more.',
    )
    .argument('<name>', 'a DirectUpdate')
    .argument('<node...>', 'the nodes', names)
    .addHelpText('after', '\nExample:\n  slipway skip to-1-36 w17')
    .action(
      run(async (context, name: string, nodes: readonly string[]) => {
        await mustBeNodes(context, nodes)
        return steer(context, name, skip(nodes))
      }),
    )
  parent
    .command('approve')
    .description(
      'Approves the wave that is done: the next begins. It is recorded under the name by which the API server knows you, and needs a right of its own: ClusterRole slipway-approver.',
    )
    .argument('<name>', 'a DirectUpdate')
    .addHelpText('after', '\nExample:\n  slipway approve to-1-36')
    .action(
      run(async (context, name: string) => steer(context, name, approve(await myName(context), context.clock.now()))),
    )
  parent
    .command('run-now')
    .description(
      'Lets this run of an update go on at any time. Who wanted it, when and why is recorded; budgets, gates and all else hold as before. It needs the right to approve: ClusterRole slipway-approver.',
    )
    .argument('<name>', 'a DirectUpdate')
    .requiredOption('--reason <text>', 'why it cannot wait, such as CVE-2026-1234', reasonText)
    .addHelpText('after', '\nExample:\n  slipway run-now to-1-36 --reason CVE-2026-1234')
    .action(
      run(async (context, name: string, { reason }: { readonly reason: string }) =>
        steer(context, name, runNow(reason, await myName(context), context.clock.now())),
      ),
    )
}

/** A name that was mistyped would leave the node that is meant as it is. Who may not read nodes is believed. */
async function mustBeNodes(context: CommandContext, names: readonly string[]): Promise<void> {
  const api = await context.api()
  for (const name of names) {
    await mustFind(api, nodeType, { name }, context.signal).catch((error: unknown) => {
      if (!isKubeError(error, 'Forbidden')) throw error
    })
  }
}

/** Undefined where this person may not read them. */
async function statesNow(context: CommandContext): Promise<readonly NodeState[] | undefined> {
  try {
    return (await listAll(await context.api(), nodeStates, {}, context.signal)).items
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined
    throw error
  }
}

function steer(context: CommandContext, name: string, decide: Decide): Promise<number> {
  return patchSpec(context, directUpdates, name, decide)
}

interface Said {
  readonly spec: object
  readonly said: string
}

async function patchSpec<T extends KubeObject>(
  context: CommandContext,
  type: ResourceType<T>,
  name: string,
  decide: (found: T) => Said | Promise<Said>,
): Promise<number> {
  const { out, signal } = context
  const api = await context.api()
  for (;;) {
    const found = await mustFind(api, type, { name }, signal)
    const { spec, said } = await decide(found)
    const { uid, resourceVersion } = found.metadata
    const body = { metadata: { uid, resourceVersion }, spec }
    try {
      await api.patch(type, { name }, { type: 'merge', body }, signal)
    } catch (error) {
      // Somebody wrote meanwhile: what was decided may be another by now.
      if (isKubeError(error, 'Conflict')) continue
      throw error
    }
    out.write(`${name}: ${said}\n`)
    return exitCode.done
  }
}

/** Nobody's word counts for another's. */
async function myName(context: CommandContext): Promise<string> {
  const name = await whoAmI(await context.api(), context.signal)
  if (name !== undefined) return name
  throw new SlipwayError('Refused', 'the API server does not tell who you are', {
    nextStep: 'ask for the right to create selfsubjectreviews',
  })
}
