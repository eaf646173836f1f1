// slipway hold: a person keeps a node for themselves, also while we work there.

import type { Command } from 'commander'
import { type Hold, holdSchema } from '../../api/hold.ts'
import { nodes } from '../../api/kube.ts'
import { holdOf, isMarked } from '../../core/node/node-marks.ts'
import { holdingPatch } from '../../core/steering/hold-node.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { mustFind } from '../read-cluster.ts'
import { textOf } from '../usage.ts'
import { whoAmI } from '../who-am-i.ts'
import { releaseNode } from './release.ts'

interface HoldOptions {
  readonly reason?: string
  readonly by?: string
  readonly release?: boolean
  readonly force?: boolean
}

export function addHold(parent: Command, run: RunAction): void {
  parent
    .command('hold')
    .description(
      'No new work starts on the node. What is under way there ends; the node then stays cordoned until it is released.',
    )
    .argument('<node>')
    .option('--reason <text>', 'why; everybody who waits for the node is told', reasonText)
    .option('--by <name>', 'who holds it (default: your name on this cluster)', byText)
    .option('--release', 'end the hold; the same as slipway release')
    .option('--force', 'with --release: also while the node is under work')
    .addHelpText(
      'after',
      `
Examples:
  slipway hold w3 --reason "disk is being replaced"
  slipway hold w3 --release`,
    )
    .action(run(runHold))
}

const reasonText = textOf(holdSchema.shape.why, 'It must have at most 1024 characters.')
const byText = textOf(holdSchema.shape.by, 'It must have at most 256 characters.')

async function runHold(context: CommandContext, name: string, options: HoldOptions): Promise<number> {
  if (options.release) return releaseNode(context, name, options)
  const { out, clock, signal } = context
  const api = await context.api()
  const node = await mustFind(api, nodes, { name }, signal)
  const before = holdOf(node)
  const by = options.by ?? (await whoAmI(api, signal))
  const hold: Hold = {
    ...(by !== undefined && { by }),
    ...(options.reason !== undefined && { why: options.reason }),
    at: clock.now().toISOString(),
  }
  await api.patch(nodes, { name }, { type: 'merge', body: holdingPatch(hold) }, signal)
  if (before !== undefined) out.write(`${name} was on hold already (${before}); that is replaced\n`)
  out.write(`${name} is on hold: no new work starts there\n`)
  if (isMarked(node)) out.write('what is under way there ends, and the node stays cordoned after it\n')
  out.write(`slipway release ${name} ends it\n`)
  return exitCode.done
}
