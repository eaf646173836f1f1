// A pod that takes away what the agent kept on one host, with the same access to it as the agent had.

import type { DaemonSet, Pod } from '../../api/kube.ts'
import type { Unsaved } from '../../ports/kube-api.ts'
import { agentNodeFlags, hostAccess, program, stateDir as usualStateDir } from '../install/workloads.ts'

export const forgetLabel = 'app.kubernetes.io/component=forget'

/** What is taken over from the agents: a registry may ask for credentials, and a chart may have moved the folder. */
export interface AgentTraits {
  readonly image: string
  readonly stateDir: string
  readonly imagePullSecrets?: unknown
}

const stateFlag = '--state-dir='

export function traitsOf(agents: DaemonSet | undefined, usualImage: string): AgentTraits {
  const spec = agents?.spec.template.spec
  const container = spec?.containers[0]
  const flag = container?.args?.find((each) => each.startsWith(stateFlag))
  return {
    image: container?.image ?? usualImage,
    stateDir: flag?.slice(stateFlag.length) ?? usualStateDir,
    ...(spec?.imagePullSecrets !== undefined && { imagePullSecrets: spec.imagePullSecrets }),
  }
}

/**
 * Bound to its node by name, whatever cordons and taints say, and run once: its end says whether all is gone, and its log why not.
 */
export function forgetPod(
  node: string,
  name: string,
  namespace: string,
  { image, stateDir, imagePullSecrets }: AgentTraits,
): Unsaved<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { 'app.kubernetes.io/name': 'slipway', 'app.kubernetes.io/component': 'forget' },
    },
    spec: {
      nodeName: node,
      restartPolicy: 'Never',
      hostPID: true,
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      tolerations: [{ operator: 'Exists' }],
      ...(imagePullSecrets !== undefined && { imagePullSecrets }),
      containers: [
        {
          name: 'forget',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', ...agentNodeFlags, program],
          args: ['host', 'forget', '--yes', '--host-root=/host', `${stateFlag}${stateDir}`],
          terminationMessagePolicy: 'FallbackToLogsOnError',
          ...hostAccess(stateDir).container,
        },
      ],
      volumes: hostAccess(stateDir).volumes,
    },
  }
}
