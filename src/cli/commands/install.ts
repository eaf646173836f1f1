// slipway install: brings a cluster what it needs, with the rights of whoever runs it; --print writes it as YAML instead.

import { type Command, Option } from 'commander'
import { durationText, objectName } from '../../api/scalars.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { parseDuration } from '../../core/duration.ts'
import { parseVersion } from '../../core/version.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { agentUnit } from '../install/agent-unit.ts'
import { type Change, installCluster } from '../install/install-cluster.ts'
import { lockPlaces } from '../install/lock-rights.ts'
import type { InstallSettings, LockPlace, Manifest } from '../install/manifest.ts'
import { manifests } from '../install/manifests.ts'
import { installedElsewhere, managedByHelm, presentInstallation } from '../install/present-installation.ts'
import { waitReady } from '../install/wait-ready.ts'
import { isTheirs, unclaimed } from '../install/whose-namespace.ts'
import { tellerOf, withActivity } from '../progress/activity.ts'
import { textOf } from '../usage.ts'

const oldestMinor = 30

interface InstallOptions {
  readonly print?: boolean
  readonly namespace: string
  readonly image?: string
  readonly hostService?: boolean
  readonly printUnit?: boolean
  readonly lock?: readonly LockPlace[]
  readonly withForeign?: boolean
  readonly only?: 'reboots'
  readonly wait: boolean
  readonly timeout: string
}

export function addInstall(parent: Command, run: RunAction): void {
  parent
    .command('install')
    .description(
      'Applies the namespace, CustomResourceDefinitions, rights, operator and agents, and waits until they are Ready. It can be run again, with the same options: what differs is brought up to date, what is not wanted any more is removed.',
    )
    .option('--print', 'change nothing: write it all as YAML to standard output')
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
    .option(
      '--with-foreign',
      'also carry out resources of other systems: their CustomResourceDefinitions, and the rights',
    )
    .addOption(
      new Option(
        '--only <part>',
        'reboots: for managed clusters, without the rights that only upgrades of Kubernetes need; agents do nothing but reboots and maintenance',
      ).choices(['reboots']),
    )
    .option('--no-wait', 'do not wait until operator and agents are Ready')
    .option(
      '--timeout <duration>',
      'how long to wait for them',
      textOf(durationText, 'It must be a duration such as 5m.'),
      '5m',
    )
    .option('--print-unit', 'write the systemd unit of such an agent to standard output')
    .addHelpText(
      'after',
      `
Examples:
  slipway install
  slipway install --only reboots --image registry.example/slipway:1.0.0
  slipway install --print | kubectl apply --server-side -f -
  slipway install --print --namespace maintenance --image registry.example/slipway:1.0.0 > slipway.yaml
  slipway install --print --host-service | kubectl apply --server-side -f -
  slipway install --print --with-foreign | kubectl apply --server-side -f -
  slipway install --print --lock kured=kube-system/kured | kubectl apply --server-side -f -
  slipway install --print-unit > /etc/systemd/system/slipway-agent.service`,
    )
    .action(run(runInstall))
}

async function runInstall(context: CommandContext, options: InstallOptions): Promise<number> {
  if (options.printUnit) {
    context.out.write(agentUnit(options.only))
    return exitCode.done
  }
  const settings: InstallSettings = {
    namespace: options.namespace,
    image: options.image ?? `slipway:${context.version}`,
    hostService: options.hostService ?? false,
    locks: options.lock ?? [],
    foreign: options.withForeign ?? false,
    ...(options.only && { only: options.only }),
  }
  return options.print ? await print(context, settings) : await install(context, settings, options)
}

async function print(context: CommandContext, settings: InstallSettings): Promise<number> {
  const { out } = context
  const yaml = await context.yaml()
  const [namespace, ...others] = manifests(settings)
  const documents = [
    yaml.print(namespace),
    ...(await definitions(context, settings)),
    ...others.map((object) => yaml.print(object)),
  ]
  out.write(documents.map((text) => text.replace(/^---\n/, '').trimEnd()).join('\n---\n'))
  out.write('\n')
  return exitCode.done
}

/** The namespace and the kinds come before what lives in and speaks of them. */
async function definitions(context: CommandContext, { foreign }: InstallSettings): Promise<readonly string[]> {
  return [await context.crds(), ...(foreign ? [await context.foreignCrds()] : [])]
}

async function install(context: CommandContext, settings: InstallSettings, options: InstallOptions): Promise<number> {
  const { out, err, clock, signal } = context
  const api = await context.api()
  const { namespace } = settings
  await refuseOldCluster(api, signal)
  const present = await presentInstallation(api, signal)
  if (present?.release !== undefined) throw managedByHelm(present, `run: helm upgrade ${present.release} …`)
  if (present && present.namespace !== namespace) throw installedElsewhere(present.namespace, namespace)

  const yaml = await context.yaml()
  const kinds = (await definitions(context, settings)).flatMap((text) => yaml.documents(text))
  const isGuest = await isTheirs(api, namespace, signal)
  const [first, ...others] = manifests(settings)
  const home = first && (isGuest ? unclaimed(first) : first)
  const wanted = [...(home ? [home] : []), ...(kinds as readonly Manifest[]), ...others]
  const counts: Record<Change, number> = { created: 0, changed: 0, unchanged: 0, removed: 0 }
  const tell = (line: string) => {
    if (!context.options.quiet) err.write(`${line}\n`)
  }
  if (isGuest)
    tell(`namespace ${namespace} is not of our making: it gets a pod-security label, and slipway uninstall leaves it`)
  await installCluster(
    api,
    namespace,
    wanted,
    (change, object) => {
      counts[change] += 1
      if (change !== 'unchanged') tell(`${change} ${object}`)
    },
    signal,
  )
  const said = Object.entries(counts).flatMap(([change, count]) => (count > 0 ? [`${count} ${change}`] : []))
  out.write(`applied in namespace ${namespace}: ${said.join(', ')}\n`)
  if (options.wait) {
    const patienceMs = parseDuration(options.timeout)
    const withAgents = !settings.hostService
    const what = `waiting at most ${options.timeout} until ${withAgents ? 'operator and agents are' : 'the operator is'} Ready`
    await withActivity(context, what, (activity) => {
      const tellOn = tellerOf(context, activity)
      tellOn(what)
      return waitReady({ api, clock, namespace, withAgents, patienceMs, tell: tellOn }, signal)
    })
  }
  out.write(whatNext(settings, options.wait))
  return exitCode.done
}

/** The admission policies that fence the agents are served from then on. */
async function refuseOldCluster(api: KubeApi, signal: AbortSignal): Promise<void> {
  const text = await api.serverVersion(signal)
  const version = parseVersion(text)
  if (!version || version.major > 1 || version.minor >= oldestMinor) return
  throw new SlipwayError('Refused', `Slipway needs Kubernetes 1.${oldestMinor} or newer; this cluster has ${text}`, {
    nextStep: 'upgrade the cluster as you did so far, then install Slipway',
  })
}

function whatNext({ hostService, only }: InstallSettings, waited: boolean): string {
  return [
    waited ? 'Slipway is ready. What next:' : 'What next:',
    ...(hostService ? ['  slipway install --print-unit    the unit of the agents, for every host'] : []),
    '  slipway doctor                  whether all of it is there, and the cluster ready for work',
    '  slipway nodes                   every node, and whether its agent has reported',
    ...(only === undefined ? ['  slipway plan --kubernetes …     an update before it begins'] : []),
    '  slipway status                  what goes on',
    '',
  ].join('\n')
}
