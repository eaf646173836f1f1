// slipway host: on the machine itself, through the socket of its agent; needs no kubeconfig, and works with the API away.

import type { Command } from 'commander'
import {
  type LocalMaintenance,
  type LocalState,
  localLogSchema,
  localMaintenanceSchema,
  localSocketPath,
  localStateSchema,
} from '../../api/local-protocol.ts'
import { askAgent } from '../ask-agent.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { hostLines } from '../host-report.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { writeLines } from '../table.ts'
import { wholeNumber } from '../usage.ts'
import { addHostForget } from './host-forget.ts'

interface HostOptions {
  readonly socket: string
  readonly output: Format
}

interface LogsOptions extends Omit<HostOptions, 'output'> {
  readonly order?: string
  readonly step?: string
  readonly follow?: boolean
  readonly bytes?: number
}

const socketFlag = ['--socket <path>', 'where the agent listens', localSocketPath] as const

export function addHost(parent: Command, run: RunAction): void {
  const host = parent
    .command('host')
    .description('Talks to the agent on this machine, as root, without the API; forget removes what it left.')
    .addHelpText('after', hostHelp)
  host
    .command('status')
    .summary('what the agent does here, and what the host asks for')
    .description('Shows the order the agent works on, its steps, and which maintenance or reboot this host asks for.')
    .addHelpText('after', '\nExample:\n  slipway host status')
    .option(...socketFlag)
    .addOption(formatOption('table', 'json', 'yaml'))
    .action(run(runStatus))
  host
    .command('logs')
    .summary('what the steps of an order wrote')
    .description('Prints what the steps of an order wrote, from the journal of this host.')
    .addHelpText('after', '\nExamples:\n  slipway host logs --step upgrade-kubelet\n  slipway host logs --follow')
    .option(...socketFlag)
    .option('--order <id>', 'which order (default: the newest)')
    .option('--step <name>', 'only this step')
    .option('-f, --follow', 'go on with what is written later')
    .option('--bytes <n>', 'how much of the end (default 65536)', wholeNumber(1, 8_388_608))
    .action(run(runLogs))
  host
    .command('request')
    .summary('ask that this node be emptied for maintenance')
    .addHelpText('after', '\nExample:\n  slipway host request --wait')
    .description(
      'Asks that this node be cordoned and drained. One request at a time; the queue goes by who asked first.',
    )
    .option(...socketFlag)
    .option('--wait', 'return when the node is empty and the work may begin')
    .addOption(formatOption('table', 'json', 'yaml'))
    .action(run(runRequest))
  host
    .command('finish')
    .summary('maintenance is over: give the node back, or say why it failed')
    .description(
      'Ends the maintenance of this node: it goes back to work, or stays cordoned with the reason it failed for.',
    )
    .addHelpText('after', '\nExamples:\n  slipway host finish\n  slipway host finish --failed "the new disk is broken"')
    .option(...socketFlag)
    .option('--failed <reason>', 'it went wrong: the node stays cordoned, no other one is touched, and this is shown')
    .addOption(formatOption('table', 'json', 'yaml'))
    .action(run(runFinish))
  addHostForget(host, run)
}

const hostHelp = `
Examples:
  slipway host status
  slipway host logs --follow
  slipway host request --wait && ./work.sh && slipway host finish || slipway host finish --failed "work.sh failed"`

async function runStatus(context: CommandContext, { socket, output }: HostOptions): Promise<number> {
  let state: LocalState | undefined
  await askAgent(context, socket, { ask: 'state' }, localStateSchema, (result) => {
    state = result
  })
  if (!state) return exitCode.failed
  if (output !== 'table') await writeValue(context, output, state)
  else writeLines(context.out, hostLines(state, context.clock.now()))
  return exitCode.done
}

async function runLogs(context: CommandContext, { socket, ...wish }: LogsOptions): Promise<number> {
  await askAgent(context, socket, { ask: 'logs', ...wish }, localLogSchema, ({ text }) => context.out.write(text))
  return exitCode.done
}

async function runRequest(
  context: CommandContext,
  options: HostOptions & { readonly wait?: boolean },
): Promise<number> {
  const { socket, output, wait = false } = options
  const words: LocalMaintenance[] = []
  await askAgent(context, socket, { ask: 'request', wait }, localMaintenanceSchema, (word) => {
    words.push(word)
    if (output === 'table') context.out.write(`${sentence(word)}\n`)
  })
  if (output !== 'table') await writeValue(context, output, words.at(-1))
  return exitCode.done
}

async function runFinish(
  context: CommandContext,
  options: HostOptions & { readonly failed?: string },
): Promise<number> {
  const { socket, output, failed } = options
  let word: LocalMaintenance | undefined
  const request = { ask: 'finish' as const, ...(failed !== undefined && { failed }) }
  await askAgent(context, socket, request, localMaintenanceSchema, (result) => {
    word = result
  })
  if (!word) return exitCode.failed
  if (output !== 'table') await writeValue(context, output, word)
  else context.out.write(`${sentence(word)}\n`)
  return exitCode.done
}

function sentence({ state, required, inProgress }: LocalMaintenance): string {
  switch (state) {
    case 'Requested':
      return `maintenance is asked for (${required}); the node is emptied when its turn comes`
    case 'InProgress':
      return `the node is empty (${inProgress}): the work may begin`
    case 'Finished':
      return 'maintenance is over; the node goes back to work'
    case 'Cancelled':
      return 'the request is taken back; nothing had begun'
    case 'Failed':
      return `recorded: the node stays cordoned while ${required} is there`
  }
}
