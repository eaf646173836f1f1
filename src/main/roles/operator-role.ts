import { hostname } from 'node:os'
import { x25519Sealing } from '../../adapters/crypto/x25519-sealing.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.ts'
import { httpWeb } from '../../adapters/web/http-web.ts'
import { directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { OperatorOptions } from '../../cli/dependencies.ts'
import { runOperator } from '../../operator/operator.ts'
import { firstContact } from './first-contact.ts'
import { serveEndpoints } from './operator-endpoints.ts'
import type { RoleDependencies } from './role-dependencies.ts'

export async function operatorRole(
  { connector, clock, random, version }: RoleDependencies,
  options: OperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, context, namespace, leaseName, identity, nodeName, podName } = options
  const log = pinoLog({ level: 'info', component: 'operator' })
  const metrics = new PrometheusMetrics()
  let answered = false
  await serveEndpoints({ address: options.metricsAddress, isReady: () => answered, metrics }, signal)
  const api = await connector.connect({
    ...{ kubeconfig, context, component: 'operator' },
    onRequest: (request) => {
      answered ||= request.status === 200
      metrics.requested(request)
    },
  })
  await firstContact(api, [nodes, directUpdates, maintenancePolicies, nodeProfiles, nodeStates], signal)
  await runOperator(
    {
      ...{ api, clock, random, log, metrics, version, namespace, leaseName, sealing: x25519Sealing, web: httpWeb },
      // Never reused: a restarted process must not take itself for the one before.
      identity: `${identity ?? podName ?? hostname()}_${random.uuid()}`,
      ...(nodeName !== undefined && { nodeName }),
      ...(podName !== undefined && { podName }),
    },
    signal,
  )
}
