import type { InstallSettings, Manifest } from './manifest.ts'
import { agentName, labelsOf, operatorName } from './rights.ts'

export const metricsPort = 8080
export const stateDir = '/var/lib/slipway'
/** Where the image has what `make build` makes. */
export const program = '/opt/slipway/slipway.mjs'
/**
 * Memory before speed: an agent waits nearly all the time, on every node of the cluster. Lite mode compiles nothing to machine
 * code and has no WebAssembly, so nothing the agent loads may need that.
 */
export const agentNodeFlags = ['--lite-mode', '--max-semi-space-size=1', '--single-threaded-gc']
/** Bounds the garbage that waits for V8: a rollout on a big cluster comes in bursts of short-lived objects. */
const operatorNodeFlags = ['--max-semi-space-size=4']

/** A version has one image: what a node has it need not ask for again. */
const imagePullPolicy = 'IfNotPresent'

const fromField = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
const nodeNameEnv = fromField('NODE_NAME', 'spec.nodeName')

/** Two replicas on two nodes where there are two: the node of one can be drained while the other acts. */
export function operatorDeployment({ namespace, image }: InstallSettings): Manifest {
  const labels = labelsOf(operatorName)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: operatorName, namespace, labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: operatorName,
          priorityClassName: 'system-cluster-critical',
          terminationGracePeriodSeconds: 30,
          affinity: {
            podAntiAffinity: {
              // Preferred: on a cluster of one node the second replica need not hang about unscheduled.
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
                },
              ],
            },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'topology.kubernetes.io/zone',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'operator',
              image,
              imagePullPolicy,
              command: ['node', ...operatorNodeFlags, program],
              args: [
                'operator',
                `--namespace=${namespace}`,
                `--metrics-address=:${metricsPort}`,
                '--identity=$(POD_NAME)',
                '--node-name=$(NODE_NAME)',
                '--pod-name=$(POD_NAME)',
                '--log-level=info',
              ],
              env: [nodeNameEnv, fromField('POD_NAME', 'metadata.name')],
              ports: [{ name: 'metrics', containerPort: metricsPort }],
              livenessProbe: { httpGet: { path: '/livez', port: 'metrics' }, periodSeconds: 10 },
              readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' }, periodSeconds: 5 },
              resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  }
}

/** On every node, whatever its taints, and without the cluster's network: it must start while that is broken. */
export function agentDaemonSet({ namespace, image, only }: InstallSettings): Manifest {
  const labels = labelsOf(agentName)
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: agentName, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: agentName,
          priorityClassName: 'system-node-critical',
          hostNetwork: true,
          hostPID: true,
          dnsPolicy: 'ClusterFirstWithHostNet',
          terminationGracePeriodSeconds: 30,
          tolerations: [{ operator: 'Exists' }],
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          containers: [
            {
              name: 'agent',
              image,
              imagePullPolicy,
              command: ['node', ...agentNodeFlags, program],
              args: [
                'agent',
                '--node-name=$(NODE_NAME)',
                '--host-root=/host',
                `--state-dir=${stateDir}`,
                ...(only === undefined ? [] : [`--only=${only}`]),
                '--log-level=info',
              ],
              env: [nodeNameEnv],
              resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
              ...hostAccess(stateDir).container,
            },
          ],
          volumes: hostAccess(stateDir).volumes,
        },
      },
    },
  }
}

/** What a pod of ours needs to look after its host and the journal there. */
export function hostAccess(folder: string) {
  return {
    container: {
      // The image is nobody's in particular.
      securityContext: { privileged: true, runAsUser: 0 },
      volumeMounts: [
        { name: 'host', mountPath: '/host', mountPropagation: 'HostToContainer' },
        { name: 'state', mountPath: folder },
      ],
    },
    volumes: [
      { name: 'host', hostPath: { path: '/' } },
      { name: 'state', hostPath: { path: folder, type: 'DirectoryOrCreate' } },
    ],
  }
}
