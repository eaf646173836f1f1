import { hostname } from 'node:os'
import { WebManifests } from '../../adapters/bundle/web-manifests.ts'
import { x25519Sealing } from '../../adapters/crypto/x25519-sealing.ts'
import { httpWeb } from '../../adapters/http/http-web.ts'
import { auditLines } from '../../adapters/log/audit-lines.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.ts'
import { HttpRegistry } from '../../adapters/oci/registry.ts'
import { nodes } from '../../api/kube.ts'
import type { OperatorOptions } from '../../cli/dependencies.ts'
import { ourKinds } from '../../cli/our-kinds.ts'
import { runOperator } from '../../operator/operator.ts'
import { checkDefinitions } from './check-definitions.ts'
import { firstContact } from './first-contact.ts'
import { serveEndpoints } from './operator-endpoints.ts'
import type { RoleDependencies } from './role-dependencies.ts'

export async function operatorRole(
  { connector, clock, random, version, env }: RoleDependencies,
  options: OperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, context, namespace, leaseName, identity, nodeName, podName } = options
  const log = pinoLog({ level: options.logLevel, component: 'operator' })
  const metrics = new PrometheusMetrics()
  const audit = auditLines(options.auditLog)
  let answered = false
  await serveEndpoints({ address: options.metricsAddress, isReady: () => answered, metrics }, signal)
  const api = await connector.connect({
    ...{ kubeconfig, context, component: 'operator' },
    onRequest: (request) => {
      answered ||= request.status === 200
      metrics.requested(request)
    },
  })
  await firstContact(api, [nodes, ...ourKinds], signal)
  await checkDefinitions(api, log, signal)
  await runOperator(
    {
      ...{
        api,
        clock,
        random,
        log,
        metrics,
        audit,
        version,
        namespace,
        leaseName,
        sealing: x25519Sealing,
        web: httpWeb,
      },
      bundleManifests: new WebManifests({ proxyEnv: env }),
      registry: new HttpRegistry({ proxyEnv: env }),
      // Never reused: a restarted process must not take itself for the one before.
      identity: `${identity ?? podName ?? hostname()}_${random.uuid()}`,
      ...(nodeName !== undefined && { nodeName }),
      ...(podName !== undefined && { podName }),
    },
    signal,
  )
}
