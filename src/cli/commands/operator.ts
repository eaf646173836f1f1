import { type Command, Option } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import { type LogLevel, logLevels } from '../dependencies.ts'
import { exitCode } from '../exit-code.ts'

interface OperatorCommandOptions {
  readonly namespace: string
  readonly identity?: string
  readonly leaseName: string
  readonly metricsAddress: string
  readonly auditLog?: string
  readonly nodeName?: string
  readonly podName?: string
  readonly logLevel: LogLevel
}

export function addOperator(parent: Command, run: RunAction): void {
  parent
    .command('operator')
    .description('Runs the operator. Two or more may run; a Lease decides which one acts. Logs are JSON lines.')
    .option('--namespace <name>', 'where its Lease and the scripts are', 'slipway-system')
    .option('--identity <name>', 'how its name on the Lease begins (default: the pod or host)')
    .option('--lease-name <name>', 'the Lease that replicas share', 'slipway-operator')
    .option('--metrics-address <host:port>', 'where /metrics, /livez and /readyz are served', ':8080')
    .option('--audit-log <file>', 'append the audit record to this file, not to the log')
    .option('--node-name <name>', 'the node it runs on, which it updates last')
    .option('--pod-name <name>', 'its own pod, which it evicts last')
    .addOption(new Option('--log-level <level>', 'what is logged at least').choices(logLevels).default('info'))
    .addHelpText(
      'after',
      `
Examples:
  slipway operator --kubeconfig test.kubeconfig --metrics-address 127.0.0.1:9090
  slipway operator --namespace slipway-system --node-name "$NODE_NAME" --pod-name "$POD_NAME"`,
    )
    .action(run(runOperatorCommand))
}

async function runOperatorCommand(context: CommandContext, options: OperatorCommandOptions): Promise<number> {
  const { kubeconfig, context: kubeContext } = context.options
  const { namespace, identity, leaseName, metricsAddress, auditLog, nodeName, podName, logLevel } = options
  await context.runOperator(
    {
      ...{ kubeconfig, context: kubeContext, namespace, identity, leaseName, metricsAddress, auditLog },
      ...{ nodeName, podName, logLevel },
    },
    context.signal,
  )
  return exitCode.done
}
