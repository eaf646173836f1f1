// slipway logs: what the steps of a node's order wrote. Ends stand in the status; more is asked for through the operator.

import type { Command } from 'commander'
import { nodes } from '../../api/kube.ts'
import {
  type AgentStatus,
  type LogQuestion,
  logsAnnotation,
  maxLogBytes,
  type NodeState,
  nodeStates,
} from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { awaitAnswer, type Heard } from '../await-answer.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { printable } from '../printable.ts'
import { find, mustFind } from '../read-cluster.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { wholeNumber } from '../usage.ts'

const mostAsks = 5

interface LogsOptions {
  readonly order?: string
  readonly step?: string
  readonly full?: boolean
  readonly bytes: number
  readonly output: Format
}

interface StepLog {
  readonly order: string
  readonly step?: string
  readonly state?: string
  readonly text: string
}

export function addLogs(parent: Command, run: RunAction): void {
  parent
    .command('logs')
    .description(
      'Shows the last lines of each step of a node’s order. With --full, or for an earlier order, the log is fetched from the host through the operator.',
    )
    .argument('<node>')
    .option('--step <name>', 'only this step')
    .option('--order <id>', 'an earlier order (slipway host status and the journal name them)')
    .option('--full', 'the whole log, up to --bytes of its end')
    .option('--bytes <n>', 'most bytes fetched', wholeNumber(1, maxLogBytes), maxLogBytes)
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway logs w3
  slipway logs w3 --step upgrade-kubelet --full`,
    )
    .action(run(runLogs))
}

async function runLogs(context: CommandContext, node: string, options: LogsOptions): Promise<number> {
  const state = await stateOf(context, node)
  const isCurrent = options.order === undefined || options.order === state.status?.agent?.order?.id
  const logs = options.full || !isCurrent ? [await fetchLog(context, state, options)] : tailsOf(state, options)
  if (options.output !== 'table') await writeValue(context, options.output, logs)
  else writeLogs(context, logs)
  return exitCode.done
}

async function stateOf(context: CommandContext, name: string): Promise<NodeState> {
  const api = await context.api()
  const state = await find(api, nodeStates, { name }, context.signal)
  if (state) return state
  await mustFind(api, nodes, { name }, context.signal)
  throw new SlipwayError('NotFound', `no agent has reported from ${name}`, {
    nextStep: `see what is missing there: slipway why ${name}`,
  })
}

function tailsOf({ metadata, status }: NodeState, { step }: LogsOptions): readonly StepLog[] {
  const order = status?.agent?.order
  if (!order)
    throw new SlipwayError('NotFound', `no order has been carried out on ${metadata.name}`, {
      nextStep: `see what it waits for: slipway why ${metadata.name}`,
    })
  const steps = order.steps.filter(({ name }) => step === undefined || name === step)
  if (steps.length === 0) {
    throw new SlipwayError('NotFound', `order ${order.id} has no step ${step}`, {
      nextStep: `it has ${order.steps.map(({ name }) => name).join(', ') || 'none'}`,
    })
  }
  return steps.map(({ name, state, logTail }) => ({ order: order.id, step: name, state, text: logTail ?? '' }))
}

function writeLogs({ out }: CommandContext, logs: readonly StepLog[]): void {
  for (const { step, state, text } of logs) {
    if (step !== undefined && logs.length > 1) out.write(`==> ${step} (${state}) <==\n`)
    out.write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  }
}

async function fetchLog(context: CommandContext, { metadata }: NodeState, options: LogsOptions): Promise<StepLog> {
  const { random } = context
  const { order, step, bytes } = options
  const question: LogQuestion = {
    request: random.uuid(),
    ...(order !== undefined && { order }),
    ...(step !== undefined && { step }),
    bytes,
  }
  const { gzip, reason } = await answerTo(context, metadata.name, question)
  if (reason) {
    const nextStep = `slipway logs ${metadata.name} shows the present order; the journal of the host names earlier ones`
    throw new SlipwayError('NotFound', reason.message, { nextStep })
  }
  const text = printable(await (await context.compression()).unpack(gzip))
  return { order: order ?? 'newest', ...(step !== undefined && { step }), text }
}

type LogAnswer = NonNullable<AgentStatus['logs']>

/** There is room for one question: where somebody else's took the place of ours, it is asked again when theirs is answered. */
async function answerTo(context: CommandContext, name: string, question: LogQuestion): Promise<LogAnswer> {
  const body = { metadata: { annotations: { [logsAnnotation]: JSON.stringify(question) } } }
  for (let asks = 0; asks < mostAsks; asks++) {
    await (await context.api()).patch(nodeStates, { name }, { type: 'merge', body }, context.signal)
    const answer = await awaitAnswer<NodeState, LogAnswer | 'overtaken'>(context, {
      type: nodeStates,
      name,
      look: (state) => heardOf(state, question.request),
      late: () =>
        new SlipwayError('Refused', `no answer from ${name} within a minute`, {
          nextStep: `look whether operator and agent are well: slipway why ${name}`,
        }),
      stopped: 'stopped',
    })
    if (answer !== 'overtaken') return answer
  }
  throw new SlipwayError('Refused', `${name} answers others who ask for its logs, too, and they came first`, {
    nextStep: 'ask again',
  })
}

function heardOf(state: NodeState | undefined, request: string): Heard<LogAnswer | 'overtaken'> {
  const answer = state?.status?.agent?.logs
  if (answer?.request === request) return { heard: 'answer', answer }
  const isWaiting = state?.metadata.annotations?.[logsAnnotation] !== undefined
  const isOvertaken = !isWaiting && answer !== undefined && state?.spec.logs?.request === answer.request
  return isOvertaken ? { heard: 'answer', answer: 'overtaken' } : { heard: 'nothing' }
}
