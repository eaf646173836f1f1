// What the cluster says about itself, asked on a control-plane host with the host's own kubeconfig: agents have no right to it.

import {
  kubeadmConfigMapSchema,
  type NodeList,
  nodeListSchema,
  type PodList,
  podListSchema,
  serverVersionSchema,
} from '../../../api/kubernetes-output.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { Schema } from '../../journal/sealed-file.ts'
import { jsonAnswerOf } from '../host-answer.ts'
import { lookUntil } from '../look-until.ts'

const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', '--request-timeout=10s', 'get', '--raw']
/** Long enough for a boot. What waits longer is asked again by the agent, which looks at the host anew then. */
const patience = { tries: 20, pauseSeconds: 5 }

/** The text of the cluster's ClusterConfiguration; waits for an API that is away. */
export async function readClusterConfiguration(host: Host, signal: AbortSignal): Promise<string> {
  const path = '/api/v1/namespaces/kube-system/configmaps/kubeadm-config'
  return (await patiently(host, () => ask(host, path, kubeadmConfigMapSchema, signal), signal)).data
    .ClusterConfiguration
}

/** Some nodes that are not cordoned; kubeadm's check needs one of them. */
export function readOpenNodes(host: Host, signal: AbortSignal): Promise<NodeList> {
  const path = '/api/v1/nodes?limit=50&fieldSelector=spec.unschedulable%3Dfalse'
  return patiently(host, () => ask(host, path, nodeListSchema, signal), signal)
}

/** The control plane's mirror pods of this node, as its kubelet reports them. */
export function readControlPlanePods(host: Host, nodeName: string, signal: AbortSignal): Promise<PodList> {
  const node = encodeURIComponent(`spec.nodeName=${nodeName}`)
  const path = `/api/v1/namespaces/kube-system/pods?labelSelector=tier%3Dcontrol-plane&fieldSelector=${node}`
  return ask(host, path, podListSchema, signal)
}

/** The version of the API server at this address itself, not of one behind a load balancer. */
export async function readServerVersion(host: Host, server: string, signal: AbortSignal): Promise<string> {
  const command = { argv: [...kubectl, '/version', `--server=${server}`] }
  return (await jsonAnswerOf(host, command, serverVersionSchema, signal)).gitVersion
}

function ask<T>(host: Host, path: string, schema: Schema<T>, signal: AbortSignal): Promise<T> {
  return jsonAnswerOf(host, { argv: [...kubectl, path], outputBytes: 16 * 1024 * 1024 }, schema, signal)
}

async function patiently<T>(host: Host, read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let answer: { readonly value: T } | undefined
  const look = async () => {
    try {
      answer = { value: await read() }
      return undefined
    } catch (error) {
      if (signal.aborted) throw error
      return error instanceof Error ? error.message : String(error)
    }
  }
  const missing = await lookUntil(host, look, patience, signal)
  if (answer) return answer.value
  throw new SlipwayError('CannotReach', `the cluster’s API does not answer: ${missing}`, {
    nextStep: 'look at the static pods of this node: crictl ps -a',
  })
}
