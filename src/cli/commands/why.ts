// slipway why: everything that waits, and on what, in sentences.

import type { Command } from 'commander'
import { directUpdates } from '../../api/direct-update.ts'
import { type Node, nodes, type Pod, pods } from '../../api/kube.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { selects } from '../../core/label-selector.ts'
import { isChosen } from '../../core/update/is-chosen.ts'
import { isEndedPhase, ownerOfOperation } from '../../core/update/operation.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { readSnapshot } from '../follow-update.ts'
import { find, listAll, readPolicy } from '../read-cluster.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { writeLines } from '../table.ts'
import { type Answer, answerLines, causeOf } from '../why/finding.ts'
import { nodeAnswer } from '../why/node-answer.ts'
import { podAnswer } from '../why/pod-answer.ts'
import { podFate } from '../why/pod-fate.ts'
import { profileAnswer } from '../why/profile-answer.ts'
import { updateAnswer } from '../why/update-answer.ts'

export function addWhy(parent: Command, run: RunAction): void {
  parent
    .command('why')
    .description(
      'Says in sentences what a node, an update, a profile or a pod waits for, since when, and what a person can do about it. Without a name: of every one of the first three that is not done.',
    )
    .argument('[node|update|profile|namespace/pod]', 'looked up in the cluster, in this order')
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway why
  slipway why w3
  slipway why to-1-36
  slipway why base
  slipway why shop/checkout-7f9c4`,
    )
    .action(run(runWhy))
}

async function runWhy(
  context: CommandContext,
  subject: string | undefined,
  options: { readonly output: Format },
): Promise<number> {
  const { out, clock } = context
  const api = await context.api()
  const answers = subject === undefined ? await everyAnswer(context, api) : await answersFor(context, api, subject)
  if (answers.length === 0 && subject !== undefined) {
    throw new SlipwayError('NotFound', `there is no node, update, profile or pod named ${subject}`, {
      nextStep: 'look at what there is: slipway nodes, slipway status; a pod is NAMESPACE/NAME',
    })
  }
  if (options.output !== 'table') {
    const told = answers.map((answer) => ({ ...answer, cause: causeOf(answer) }))
    await writeValue(context, options.output, told)
  } else if (answers.length === 0)
    out.write('nothing waits: no update or profile is under way, and no node is under work\n')
  else
    writeLines(
      out,
      answers.flatMap((answer) => answerLines(answer, clock.now())),
    )
  return exitCode.done
}

/** Updates that are not over, then profiles and the nodes that are under other work. */
async function everyAnswer({ clock, signal }: CommandContext, api: KubeApi): Promise<readonly Answer[]> {
  const [{ items: updates }, { items: states }, { items: profiles }] = await Promise.all([
    listAll(api, directUpdates, {}, signal),
    listAll(api, nodeStates, {}, signal),
    listAll(api, nodeProfiles, {}, signal),
  ])
  const open = updates.filter(({ status }) => !isEndedPhase(status?.phase))
  const told = new Set(open.map(({ metadata }) => metadata.name))
  const atWork = states.filter(({ status }) => {
    const rollout = status?.rollout
    return rollout !== undefined && rollout.phase !== 'Done' && !told.has(ownerOfOperation(rollout.operationID))
  })
  const found = await Promise.all(atWork.map(({ metadata }) => find(api, nodes, { name: metadata.name }, signal)))
  return [
    ...(await Promise.all(open.map(async (update) => updateAnswer(await readSnapshot(api, update, clock, signal))))),
    ...profiles.filter(({ status }) => status?.phase !== 'Applied').map((profile) => profileAnswer(profile, states)),
    ...(await Promise.all(found.flatMap((node) => (node ? [answerForNode(api, node, signal)] : [])))),
  ]
}

async function answersFor(context: CommandContext, api: KubeApi, subject: string): Promise<readonly Answer[]> {
  const { clock, signal } = context
  const [namespace, pod, ...rest] = subject.split('/')
  if (namespace && pod && rest.length === 0) return podAnswers(api, `metadata.name=${pod}`, namespace, clock, signal)
  const [node, update, profile] = await Promise.all([
    find(api, nodes, { name: subject }, signal),
    find(api, directUpdates, { name: subject }, signal),
    find(api, nodeProfiles, { name: subject }, signal),
  ])
  const answers: Answer[] = []
  if (node) answers.push(await answerForNode(api, node, signal))
  if (update) answers.push(updateAnswer(await readSnapshot(api, update, clock, signal)))
  if (profile) answers.push(profileAnswer(profile, (await listAll(api, nodeStates, {}, signal)).items))
  return answers.length > 0 ? answers : podAnswers(api, `metadata.name=${subject}`, undefined, clock, signal)
}

async function answerForNode(api: KubeApi, node: Node, signal: AbortSignal): Promise<Answer> {
  const [state, policy, updates, profiles] = await Promise.all([
    find(api, nodeStates, { name: node.metadata.name }, signal),
    readPolicy(api, signal),
    listAll(api, directUpdates, {}, signal),
    listAll(api, nodeProfiles, {}, signal),
  ])
  const matching = profiles.items.filter(({ spec }) => selects(spec.nodeSelector, node.metadata.labels))
  const concerned = updates.items.filter(({ spec }) => isChosen(spec, node))
  return nodeAnswer({ node, state, policy, updates: concerned, profiles: matching })
}

async function podAnswers(
  api: KubeApi,
  fieldSelector: string,
  namespace: string | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const { items } = await listAll(api, pods, { fieldSelector, ...(namespace !== undefined && { namespace }) }, signal)
  return Promise.all(items.map((pod) => answerForPod(api, pod, clock, signal)))
}

async function answerForPod(api: KubeApi, pod: Pod, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const name = pod.spec.nodeName
  const state = name === undefined ? undefined : await find(api, nodeStates, { name }, signal)
  const rollout = state?.status?.rollout
  if (rollout?.phase !== 'Draining') return podAnswer(pod, state, undefined)
  const [policy, update, found] = await Promise.all([
    readPolicy(api, signal),
    find(api, directUpdates, { name: rollout.update }, signal),
    listAll(api, nodes, {}, signal),
  ])
  const drain = drainOf(policy?.spec.drain, update?.spec.drain)
  return podAnswer(pod, state, podFate(pod, rollout, drain, found.items, clock.now()))
}
