// What the doctor reads, with the rights of whoever asks: what cannot be read is a finding, not a failure.

import { directUpdates } from '../../api/direct-update.ts'
import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { daemonSets, deployments, leases, nodes } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { DefinitionSight, DoctorView, FenceSight, ForeignTool, OperatorSight } from '../../core/doctor/finding.ts'
import { foreignPrograms } from '../../core/doctor/judge-cluster.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { asSlipwayError } from '../../core/failure.ts'
import { runsProgram } from '../../core/import/flags.ts'
import type { Seen } from '../../core/preflight/sights.ts'
import { parseVersion } from '../../core/version.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommandContext } from '../command-context.ts'
import { manifests } from '../install/manifests.ts'
import { agentName, operatorName } from '../install/rights.ts'
import { find, listAll } from '../read-cluster.ts'
import { callersRights } from './callers-rights.ts'
import { type Definition, sameDefinition } from './same-definition.ts'

export async function lookAtCluster(context: CommandContext, api: KubeApi, namespace: string): Promise<DoctorView> {
  const { clock, signal, version } = context
  const serverVersion = await api.serverVersion(signal)
  const [definitions, operator, agents, fences, rights, foreign, policy, updates, found, states] = await Promise.all([
    seen('the CustomResourceDefinitions', () => definitionSights(context, api)),
    seen('the operator', () => operatorSight(api, namespace, signal)),
    seen('the agents', () => find(api, daemonSets, { namespace, name: agentName }, signal)),
    seen('the admission policies', () => fenceSights(api, signal)),
    seen('your rights', () => callersRights(api, signal)),
    seen('DaemonSets and Deployments', () => foreignTools(api, signal)),
    seen('the policy', () => find(api, maintenancePolicies, { name: policyName }, signal)),
    seen('the updates', async () => (await listAll(api, directUpdates, {}, signal)).items),
    seen('the nodes', async () => (await listAll(api, nodes, {}, signal)).items),
    seen('the NodeStates', async () => (await listAll(api, nodeStates, {}, signal)).items),
  ])
  const daemons = 'seen' in agents ? agents.seen : undefined
  const agentSelector = daemons && (daemons.spec.template.spec.nodeSelector ?? {})
  const drain = drainOf('seen' in policy ? policy.seen?.spec.drain : undefined, undefined)
  const question = { spec: {}, serverVersion, concerns: () => true, drain }
  const sights = await context.observe(api, question, signal)
  const fencesWanted = manifests({ namespace, image: '' }).flatMap(({ kind, metadata }) => {
    return kind === policies.kind ? [metadata.name] : []
  })
  return {
    ...{ version, namespace, serverVersion, definitions, operator, agentSelector, fences, rights, foreign, policy },
    ...{ fencesWanted, updates, nodes: found, states, sights, now: clock.now() },
  }
}

async function seen<T>(what: string, see: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { seen: await see() }
  } catch (error) {
    const isOurs = error instanceof SlipwayError && error.code === 'CrdsMissing'
    // One slow or refused request does not make the others worthless; a server that is gone does.
    if (!isOurs && (!isKubeError(error) || isKubeError(error, 'Unreachable', 'Unauthorized'))) throw error
    return { unseen: `${what} cannot be read: ${asSlipwayError(error).message}` }
  }
}

async function definitionSights(
  { crds, yaml, signal }: CommandContext,
  api: KubeApi,
): Promise<readonly DefinitionSight[]> {
  const ours = (await yaml()).documents(await crds()) as readonly Definition[]
  const { items } = await listAll(api, resourceDefinitionType, {}, signal)
  const there = new Map(items.map((definition) => [definition.metadata.name, definition]))
  return ours.map((definition) => {
    const { name } = definition.metadata
    const found = there.get(name)
    return { name, state: !found ? 'Missing' : sameDefinition(definition, found as Definition) ? 'Same' : 'Differs' }
  })
}

async function operatorSight(api: KubeApi, namespace: string, signal: AbortSignal): Promise<OperatorSight> {
  const ref = { namespace, name: operatorName }
  const [deployment, lease] = await Promise.all([find(api, deployments, ref, signal), find(api, leases, ref, signal)])
  const version = deployment && versionOf(deployment.spec.template.spec.containers[0]?.image)
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {}
  return {
    ...(deployment && {
      deployment: {
        wanted: deployment.spec.replicas ?? 1,
        ready: deployment.status?.readyReplicas ?? 0,
        ...(version !== undefined && { version }),
      },
    }),
    ...(lease && {
      lease: {
        ...(holderIdentity && { holder: holderIdentity }),
        ...(renewTime && { renewedAt: renewTime }),
        seconds: leaseDurationSeconds,
      },
    }),
  }
}

/** By its tag, where that is a version. */
function versionOf(image: string | undefined): string | undefined {
  const tag = /:([^/:@]+)(?:@.*)?$/.exec(image ?? '')?.[1]
  return tag !== undefined && parseVersion(tag) ? tag : undefined
}

interface PolicyBinding extends KubeObject {
  readonly spec?: { readonly policyName?: string; readonly validationActions?: readonly string[] }
}

const admissionType = <T extends KubeObject>(kind: string, plural: string): ResourceType<T> => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  plural,
  namespaced: false,
})
const policies = admissionType<KubeObject>('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')
const bindings = admissionType<PolicyBinding>('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings')

async function fenceSights(api: KubeApi, signal: AbortSignal): Promise<readonly FenceSight[]> {
  const [found, bound] = await Promise.all([listAll(api, policies, {}, signal), listAll(api, bindings, {}, signal)])
  const denying = bound.items.filter(({ spec }) => spec?.validationActions?.includes('Deny'))
  const names = new Set(denying.map(({ spec }) => spec?.policyName))
  return found.items
    .filter(({ metadata }) => metadata.name.startsWith('slipway-'))
    .map(({ metadata }) => ({ name: metadata.name, bound: names.has(metadata.name) }))
}

async function foreignTools(api: KubeApi, signal: AbortSignal): Promise<readonly ForeignTool[]> {
  const [daemons, served] = await Promise.all([
    listAll(api, daemonSets, {}, signal),
    listAll(api, deployments, {}, signal),
  ])
  const running = [
    ...daemons.items.map((object) => ({ kind: 'DaemonSet', object })),
    ...served.items.filter(({ spec }) => spec.replicas !== 0).map((object) => ({ kind: 'Deployment', object })),
  ]
  return running.flatMap(({ kind, object }) => {
    const { name, namespace = '' } = object.metadata
    const tool = foreignPrograms.find((program) => runsProgram(asForeign(object), program))
    return tool === undefined ? [] : [{ tool, where: `${kind} ${namespace}/${name}`, namespace, name }]
  })
}

type Workload = (typeof daemonSets)['object'] | (typeof deployments)['object']

function asForeign(object: NonNullable<Workload>): Parameters<typeof runsProgram>[0] {
  const containers = object.spec.template.spec.containers.map(({ name, image, command }) => ({
    name,
    image,
    command: command && [...command],
  }))
  return { metadata: { name: object.metadata.name }, spec: { template: { spec: { containers } } } }
}
