// slipway uninstall: leaves nothing behind in the cluster and on its hosts, or says what stays and why.

import type { Command } from 'commander'
import { configMaps, daemonSets, type KubeObject, leases, namespaces, pods, type ResourceType } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { absolutePath, durationText, objectName } from '../../api/scalars.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { parseDuration } from '../../core/duration.ts'
import type { KubeApi, Selection } from '../../ports/kube-api.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { installedObjects, remove } from '../install/install-cluster.ts'
import { agentsAreServices, managedByHelm, presentInstallation } from '../install/present-installation.ts'
import { agentName, operatorName } from '../install/rights.ts'
import { isOurMaking, isTheirs } from '../install/whose-namespace.ts'
import { stateDir } from '../install/workloads.ts'
import { tellerOf, withActivity } from '../progress/activity.ts'
import { find, listAll, readPolicy } from '../read-cluster.ts'
import { AbandonedPods } from '../uninstall/abandoned-pods.ts'
import { clearNodes, releaseLocks } from '../uninstall/clear-marks.ts'
import { forgetHosts } from '../uninstall/forget-hosts.ts'
import { type AgentTraits, traitsOf } from '../uninstall/forget-pod.ts'
import { removeData, untilGone } from '../uninstall/remove-data.ts'
import { type HostsLeft, needsPerson, whatStays } from '../uninstall/what-stays.ts'
import { endStop, nodesUnderWork, stopWork, underWork } from '../uninstall/work-left.ts'
import { textOf } from '../usage.ts'

interface UninstallOptions {
  readonly namespace: string
  readonly keepData?: boolean
  readonly keepHostFiles?: boolean
  readonly image?: string
  readonly stateDir?: string
  readonly timeout: string
  readonly force?: boolean
  readonly yes?: boolean
}

/** One removal, and what it knows. */
interface Removal {
  readonly context: CommandContext
  readonly api: KubeApi
  readonly namespace: string
  readonly options: UninstallOptions
}

export function addUninstall(parent: Command, run: RunAction): void {
  parent
    .command('uninstall')
    .description(
      'Stops work, removes operator and agents, what the agents kept on the hosts, and cordons and marks of ours on nodes, then our resources, CustomResourceDefinitions, rights and namespace. Refused while nodes are under work.',
    )
    .option(
      '--namespace <name>',
      'where it was, if nothing tells any more',
      textOf(objectName, 'It must be a namespace name.'),
      'slipway-system',
    )
    .option(
      '--keep-data',
      'keep updates, profiles, policy, their CustomResourceDefinitions, the namespace and the journals on the hosts',
    )
    .option('--keep-host-files', 'leave the journals on the hosts')
    .option(
      '--image <reference>',
      'what looks after the hosts (default: the image of the agents, or slipway of this version)',
    )
    .option(
      '--state-dir <dir>',
      `where the agents kept their journals, if nothing tells any more (default: as the agents say, or ${stateDir})`,
      textOf(absolutePath, 'It must be an absolute path such as /var/lib/slipway.'),
    )
    .option(
      '--timeout <duration>',
      'how long to wait for the hosts',
      textOf(durationText, 'It must be a duration such as 2m.'),
      '2m',
    )
    .option('--force', 'also while nodes are under work: their agents end in the middle of it')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Examples:
  slipway uninstall
  slipway uninstall --yes --keep-data
  slipway uninstall --image registry.example/slipway:1.0.0

After helm uninstall it removes what Helm leaves: files on hosts, marks on
nodes, resources, CustomResourceDefinitions. Where the chart was given another
agent.stateDir, --state-dir has to say so.`,
    )
    .action(run(runUninstall))
}

async function runUninstall(context: CommandContext, options: UninstallOptions): Promise<number> {
  const { out, signal } = context
  const api = await context.api()
  const present = await presentInstallation(api, signal)
  if (present?.release !== undefined) {
    const { release, namespace } = present
    const first = `slipway stop --all, then helm uninstall ${release} --namespace ${namespace}`
    throw managedByHelm(present, `run: ${first}, and this again for what Helm leaves`)
  }
  const namespace = present?.namespace ?? options.namespace
  const removal = { context, api, options, namespace }
  if (!options.yes && !(await context.confirm(questionOf(removal, await isTheirs(api, namespace, signal))))) {
    throw new SlipwayError('Usage', 'nothing was removed: it has to be confirmed', {
      nextStep: 'answer yes, or run: slipway uninstall --yes',
    })
  }
  const hasKinds = await knowsOurKinds(removal)
  const policy = hasKinds ? await readPolicy(api, signal) : undefined
  if (hasKinds) {
    await stopWork(api, signal)
    await refuseUnderWork(removal, 'nothing was removed')
  }
  const agents = await agentsOf(removal)
  await removeOperator(removal, hasKinds)
  const left = await clearHosts(removal, agents, present !== undefined || hasKinds)
  await removeTraces(removal, policy)
  if (hasKinds && !options.keepData) await removeKinds(removal)
  if (hasKinds && options.keepData) await endStop(api, signal)
  for (const { type, ref } of await installedObjects(api, namespace, signal)) await remove(api, type, ref, signal)
  out.write('removed rights, policies, accounts\n')
  if (!options.keepData) await removeNamespace(removal)
  out.write(whatStays(options.keepData ?? false, left, agents.stateDir))
  return needsPerson(left) ? exitCode.blocked : exitCode.done
}

function questionOf({ namespace, options }: Removal, isGuest: boolean): string {
  const hosts = options.keepHostFiles ? '' : ', the journals on all hosts'
  const home = isGuest ? '' : `, and namespace ${namespace} with its Secrets`
  const data = options.keepData ? '' : `${hosts}, all updates, profiles and policies${home}`
  return `This removes Slipway${data} from this cluster. Go on? Type yes: `
}

async function knowsOurKinds({ api, context }: Removal): Promise<boolean> {
  const selection = { fieldSelector: 'metadata.name=nodestates.slipway.dev' }
  return (await listAll(api, resourceDefinitionType, selection, context.signal)).items.length > 0
}

async function refuseUnderWork({ api, context, options }: Removal, soFar: string): Promise<void> {
  const names = await nodesUnderWork(api, context.signal)
  if (names.length === 0) return
  if (!options.force) throw underWork(names, soFar)
  context.err.write(`warning: ${names.join(', ')} under work; what their agents began is not ended\n`)
}

/** The operator first, so that nobody writes any more; what it began in its last moments is seen. */
async function removeOperator(removal: Removal, hasKinds: boolean): Promise<void> {
  const { api, context, namespace } = removal
  for (const part of ['operator', 'agent'] as const) {
    const labelSelector = `app.kubernetes.io/name=slipway,app.kubernetes.io/component=${part}`
    const workloads = (await installedObjects(api, namespace, context.signal)).filter(
      ({ type, ref }) => ref.name === `slipway-${part}` && ['Deployment', 'DaemonSet'].includes(type.kind),
    )
    for (const { type, ref } of workloads) await remove(api, type, ref, context.signal)
    const abandoned = new AbandonedPods(api, context.clock)
    const look = async () => {
      const left = await listed(removal, pods, { namespace, labelSelector })
      await abandoned.remove(left, context.signal)
      return left
    }
    await untilGone(context.clock, look, `the pods of the ${part}`, context.signal)
    if (part === 'operator' && hasKinds && !removal.options.force) {
      await refuseUnderWork(removal, 'nothing but the operator was removed')
    }
  }
  context.out.write('removed operator and agents\n')
}

/** As they are, before they are removed; what the user says counts more. */
async function agentsOf({ api, context, namespace, options }: Removal): Promise<AgentTraits> {
  const found = await find(api, daemonSets, { name: agentName, namespace }, context.signal)
  const usual = traitsOf(found, `slipway:${context.version}`)
  return { ...usual, image: options.image ?? usual.image, stateDir: options.stateDir ?? usual.stateDir }
}

/** Kept data and kept journals belong together: an agent without its journal would take an order that has ended for a new one. */
async function clearHosts(removal: Removal, agents: AgentTraits, isThere: boolean): Promise<HostsLeft> {
  const { api, context, namespace, options } = removal
  if (options.keepData || options.keepHostFiles) return { hosts: 'Kept' }
  if (await agentsAreServices(api, context.signal)) {
    context.out.write(byHostServices)
    return { hosts: 'Services' }
  }
  const [found] = await listed(removal, namespaces, { fieldSelector: `metadata.name=${namespace}` })
  if (!found) return isThere ? { hosts: 'Unseen', namespace } : { hosts: 'Unasked' }
  if (found.metadata.deletionTimestamp !== undefined) return { hosts: 'TooLate', namespace }
  const patienceMs = parseDuration(options.timeout)
  const unclean = await withActivity(context, 'looking after the hosts', (activity) =>
    forgetHosts(
      { api, namespace, clock: context.clock, patienceMs, agents, tell: tellerOf(context, activity) },
      context.signal,
    ),
  )
  if (unclean.length === 0) context.out.write('removed what the agents kept on the hosts\n')
  return { hosts: 'LookedAfter', unclean }
}

async function removeTraces({ api, context, options }: Removal, policy: MaintenancePolicy | undefined): Promise<void> {
  const { out, signal } = context
  await releaseLocks(api, policy, signal)
  const cleared = await clearNodes(api, options.keepData ?? false, signal)
  if (cleared.length > 0) out.write(`took our marks off ${cleared.join(', ')}\n`)
}

async function removeKinds(removal: Removal): Promise<void> {
  const { api, context } = removal
  const count = await removeData(api, context.signal)
  const isOurs = ({ metadata }: KubeObject) => metadata.name.endsWith('.slipway.dev')
  const look = async () => (await listed(removal, resourceDefinitionType, {})).filter(isOurs)
  await untilGone(context.clock, look, 'the CustomResourceDefinitions', context.signal)
  context.out.write(`removed ${count} resources and their CustomResourceDefinitions\n`)
}

/** A namespace that a person made stays, without what was made there by us. */
async function removeNamespace(removal: Removal): Promise<void> {
  const { api, context, namespace } = removal
  const { signal, out, clock } = context
  const found = await listed(removal, namespaces, { fieldSelector: `metadata.name=${namespace}` })
  const [object] = found
  if (!object) return
  if (isOurMaking(object)) {
    await remove(api, namespaces, { name: namespace }, signal)
    const look = () => listed(removal, namespaces, { fieldSelector: `metadata.name=${namespace}` })
    await untilGone(clock, look, 'the namespace', signal)
    out.write(`removed namespace ${namespace}\n`)
    return
  }
  await remove(api, leases, { name: operatorName, namespace }, signal)
  for (const { metadata } of await listed(removal, configMaps, { namespace, labelSelector: 'slipway.dev/content' })) {
    await remove(api, configMaps, { name: metadata.name, namespace }, signal)
  }
  out.write(`namespace ${namespace} is not of our making and stays\n`)
}

/** Empty where the kind is not served any more. */
async function listed<T extends KubeObject>(
  { api, context }: Removal,
  type: ResourceType<T>,
  selection: Selection,
): Promise<readonly T[]> {
  try {
    return (await listAll(api, type, selection, context.signal)).items
  } catch (error) {
    if (error instanceof SlipwayError && isKubeError(error.cause, 'NotFound')) return []
    throw error
  }
}

const byHostServices = `The agents are services of their hosts. On each, to take agent and journal away:
  systemctl stop slipway-agent && /opt/slipway/slipway host forget && sh /opt/slipway/install.sh --remove
`
