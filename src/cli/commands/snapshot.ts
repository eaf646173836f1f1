// slipway snapshot: saves what a plan reads, so that it can be made elsewhere.

import type { Command } from 'commander'
import { readClusterSnapshot } from '../cluster-snapshot.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'

export function addSnapshot(parent: Command, run: RunAction): void {
  parent
    .command('snapshot')
    .description(
      'Writes nodes, pods, workloads, budgets and our own resources to standard output, for plan --snapshot. Reading rights suffice. No Secret, no ConfigMap, no environment, no command and no log is in it.',
    )
    .addHelpText(
      'after',
      `
Example:
  slipway snapshot > cluster.json && slipway plan --snapshot cluster.json --kubernetes v1.36.3`,
    )
    .action(run(runSnapshot))
}

async function runSnapshot({ api, clock, out, signal }: CommandContext): Promise<number> {
  const snapshot = await readClusterSnapshot(await api(), clock, signal)
  out.write(`${JSON.stringify(snapshot)}\n`)
  return exitCode.done
}
