// slipway install --print: what a cluster needs, for `kubectl apply -f -`.

import type { Command } from 'commander'
import { objectName } from '../../api/scalars.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { agentUnit } from '../install/agent-unit.ts'
import { lockPlaces } from '../install/lock-rights.ts'
import type { LockPlace } from '../install/manifest.ts'
import { manifests } from '../install/manifests.ts'
import { textOf } from '../usage.ts'

interface InstallOptions {
  readonly print?: boolean
  readonly namespace: string
  readonly image?: string
  readonly hostService?: boolean
  readonly printUnit?: boolean
  readonly lock?: readonly LockPlace[]
}

export function addInstall(parent: Command, run: RunAction): void {
  parent
    .command('install')
    .summary('print what a cluster needs to run Slipway')
    .description('Prints the namespace, CustomResourceDefinitions, rights, operator and agents as YAML.')
    .option('--print', 'write the YAML to standard output')
    .option(
      '--namespace <name>',
      'where the operator and the agents run',
      textOf(objectName, 'It must be a namespace name.'),
      'slipway-system',
    )
    .option('--image <reference>', 'the container image (default: slipway of this version)')
    .option(
      '--host-service',
      'the agents are systemd services of their hosts, with their kubelets’ credentials; no pods',
    )
    .option(
      '--lock <tool=namespace/daemonset>',
      'the right to take the lock of kured or kustodian, which spec.locks of the policy names; may be repeated',
      lockPlaces,
    )
    .option('--print-unit', 'write the systemd unit of such an agent to standard output')
    .addHelpText(
      'after',
      `
Examples:
  slipway install --print | kubectl apply -f -
  slipway install --print --namespace maintenance --image registry.example/slipway:1.0.0 > slipway.yaml
  slipway install --print --host-service | kubectl apply -f -
  slipway install --print --lock kured=kube-system/kured | kubectl apply -f -
  slipway install --print-unit > /etc/systemd/system/slipway-agent.service`,
    )
    .action(run(runInstall))
}

async function runInstall(context: CommandContext, options: InstallOptions): Promise<number> {
  if (options.printUnit) {
    context.out.write(agentUnit())
    return exitCode.done
  }
  if (!options.print) {
    throw new SlipwayError('Usage', 'install needs --print: it writes YAML and changes nothing itself', {
      nextStep: 'run: slipway install --print | kubectl apply -f -',
    })
  }
  const { out, version } = context
  const yaml = await context.yaml()
  const [namespace, ...others] = manifests({
    namespace: options.namespace,
    image: options.image ?? `slipway:${version}`,
    hostService: options.hostService ?? false,
    locks: options.lock ?? [],
  })
  // The namespace and the kinds come before what lives in and speaks of them.
  const documents = [yaml.print(namespace), await context.crds(), ...others.map((object) => yaml.print(object))]
  out.write(documents.map((text) => text.replace(/^---\n/, '').trimEnd()).join('\n---\n'))
  out.write('\n')
  return exitCode.done
}
