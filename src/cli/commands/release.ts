// slipway release: puts a node back with the right to patch it alone, also when no operator is there to do it.

import type { Command } from 'commander'
import { type Node, nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { isMarked } from '../../core/node/node-marks.ts'
import { releasingPatch, whatWasReleased, workDoubt } from '../../core/steering/hold-node.ts'
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
    .option('--force', 'also while the agent still works there, or when nobody can tell')
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
  if (doubt && !options.force && isMarked(await mustFind(api, nodes, { name }, signal))) {
    throw new SlipwayError('Refused', doubt, {
      nextStep: `wait for it, or delete its update; slipway release ${name} --force puts the node back all the same`,
    })
  }
  const before = await putBack(api, name, state, signal)
  for (const line of whatWasReleased(before, state)) out.write(`${name}: ${line}\n`)
  if (doubt) err.write(`warning: ${doubt}\n`)
  return exitCode.done
}

interface WorkOnNode {
  readonly state?: NodeState | undefined
  /** Why the node may still be under work; undefined where it is not. */
  readonly doubt: string | undefined
}

async function workOn(api: KubeApi, name: string, signal: AbortSignal): Promise<WorkOnNode> {
  try {
    const state = await find(api, nodeStates, { name }, signal)
    return { state, doubt: workDoubt(name, state) }
  } catch (error) {
    // Slipway was removed from this cluster; what it left on nodes is all there is.
    if (error instanceof SlipwayError && error.code === 'CrdsMissing') return { doubt: undefined }
    if (!isKubeError(error, 'Forbidden')) throw error
    return { doubt: `you may not read the NodeState of ${name}, so nobody can tell whether its agent still works` }
  }
}

async function putBack(api: KubeApi, name: string, state: NodeState | undefined, signal: AbortSignal): Promise<Node> {
  for (let left = tries; ; left--) {
    const node = await mustFind(api, nodes, { name }, signal)
    const body = releasingPatch(node, state)
    if (!body) return node
    try {
      await api.patch(nodes, { name }, { type: 'merge', body }, signal)
      return node
    } catch (error) {
      if (!isKubeError(error, 'Conflict') || left <= 1) throw error
    }
  }
}
