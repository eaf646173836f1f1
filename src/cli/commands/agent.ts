import { type Command, Option } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import { type LogLevel, logLevels } from '../dependencies.ts'
import { exitCode } from '../exit-code.ts'

interface AgentCommandOptions {
  readonly nodeName: string
  readonly stateDir: string
  readonly hostRoot: string
  readonly only?: 'reboots'
  readonly logLevel: LogLevel
}

export function addAgent(parent: Command, run: RunAction): void {
  parent
    .command('agent')
    .description(
      'Runs the agent of one node. It watches that node’s NodeState only, and keeps a journal in the state folder of the host.',
    )
    .requiredOption('--node-name <name>', 'the node it works on')
    .option('--state-dir <dir>', 'where the journal is kept', '/var/lib/slipway')
    .option('--host-root <dir>', "where the host's root is mounted; / = it runs on the host itself", '/')
    .addOption(
      new Option('--only <part>', 'reboots: orders for anything but reboots and maintenance are refused').choices([
        'reboots',
      ]),
    )
    .addOption(new Option('--log-level <level>', 'what is logged at least').choices(logLevels).default('info'))
    .addHelpText(
      'after',
      `
Examples:
  slipway agent --node-name "$NODE_NAME" --host-root /host
  slipway agent --node-name w3 --kubeconfig /etc/kubernetes/kubelet.conf`,
    )
    .action(run(runAgentCommand))
}

async function runAgentCommand(context: CommandContext, options: AgentCommandOptions): Promise<number> {
  const { kubeconfig, context: kubeContext } = context.options
  const { nodeName, stateDir, hostRoot, only, logLevel } = options
  const agent = { nodeName, stateDir, hostRoot, ...(only && { only }), logLevel }
  await context.runAgent({ kubeconfig, context: kubeContext, ...agent }, context.signal)
  return exitCode.done
}
