// slipway release: puts a node back with the right to patch it alone, also when no operator is there to do it.

import type { Command } from 'commander'
import { type Node, nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type Release, release, type WorkDoubt, workDoubt } from '../../core/steering/hold-node.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { find, mustFind } from '../read-cluster.ts'

interface ReleaseOptions {
  readonly force?: boolean
}

export function addRelease(parent: Command, run: RunAction): void {
  parent
    .command('release')
    .description(
      'Ends a hold, uncordons what Slipway cordoned and takes its marks off. Needs the rights to get and patch nodes, and no operator; without the right to read NodeStates also --force. A cordon that is a person’s stays.',
    )
    .argument('<node>')
    .option(
      '--force',
      'also while the agent still works there, or when nobody can tell; one that is being drained a running operator takes again',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway release w3
  slipway release w3 --force`,
    )
    .action(run(releaseNode))
}

/** Another writer may come between reading and writing; then both are done again. */
const tries = 5

export async function releaseNode(context: CommandContext, name: string, options: ReleaseOptions): Promise<number> {
  const { out, err, signal } = context
  const api = await context.api()
  const { state, doubt } = await workOn(api, name, signal)
  const decide = (node: Node) => release(node, state, doubt, options.force)
  const { said, warning } = await putBack(api, name, decide, signal)
  for (const line of said) out.write(`${name}: ${line}\n`)
  if (warning !== undefined) err.write(`warning: ${warning}\n`)
  return exitCode.done
}

interface WorkOnNode {
  readonly state?: NodeState | undefined
  /** Why the node may still be under work; undefined where it is not. */
  readonly doubt: WorkDoubt | undefined
}

async function workOn(api: KubeApi, name: string, signal: AbortSignal): Promise<WorkOnNode> {
  try {
    const state = await find(api, nodeStates, { name }, signal)
    return { state, doubt: workDoubt(name, state) }
  } catch (error) {
    // Slipway was removed from this cluster; what it left on nodes is all there is.
    if (error instanceof SlipwayError && error.code === 'CrdsMissing') return { doubt: undefined }
    if (!isKubeError(error, 'Forbidden')) throw error
    const message = `you may not read the NodeState of ${name}, so nobody can tell whether its agent still works`
    const nextStep = `ask for the right to get nodestates; slipway release ${name} --force puts the node back all the same`
    return { doubt: { message, nextStep, forced: message } }
  }
}

async function putBack(
  api: KubeApi,
  name: string,
  decide: (node: Node) => Release,
  signal: AbortSignal,
): Promise<Release> {
  for (let left = tries; ; left--) {
    const decided = decide(await mustFind(api, nodes, { name }, signal))
    const { body } = decided
    if (!body) return decided
    try {
      await api.patch(nodes, { name }, { type: 'merge', body }, signal)
      return decided
    } catch (error) {
      if (!isKubeError(error, 'Conflict') || left <= 1) throw error
    }
  }
}
