import type { Command } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'

interface OperatorCommandOptions {
  readonly namespace: string
  readonly identity?: string
  readonly leaseName: string
  readonly metricsAddress: string
  readonly nodeName?: string
  readonly podName?: string
}

export function addOperator(parent: Command, run: RunAction): void {
  parent
    .command('operator')
    .summary('the controller that carries updates out (runs until stopped)')
    .description('Runs the operator. Two or more may run; a Lease decides which one acts. Logs are JSON lines.')
    .option('--namespace <name>', 'where its Lease and the scripts are', 'slipway-system')
    .option('--identity <name>', 'how its name on the Lease begins (default: the pod or host)')
    .option('--lease-name <name>', 'the Lease that replicas share', 'slipway-operator')
    .option('--metrics-address <host:port>', 'where /metrics, /livez and /readyz are served', ':8080')
    .option('--node-name <name>', 'the node it runs on, which it updates last')
    .option('--pod-name <name>', 'its own pod, which it evicts last')
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
  const { namespace, identity, leaseName, metricsAddress, nodeName, podName } = options
  await context.runOperator(
    { kubeconfig, context: kubeContext, namespace, identity, leaseName, metricsAddress, nodeName, podName },
    context.signal,
  )
  return exitCode.done
}
