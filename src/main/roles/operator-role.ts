import { hostname } from 'node:os'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import type { OperatorOptions } from '../../cli/dependencies.ts'
import { runOperator } from '../../operator/operator.ts'
import type { RoleDependencies } from './role-dependencies.ts'

export async function operatorRole(
  { connector, clock, random }: RoleDependencies,
  options: OperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, context, namespace, leaseName, identity, nodeName, podName } = options
  const log = pinoLog({ level: 'info', component: 'operator' })
  const api = await connector.connect({ kubeconfig, context, component: 'operator' })
  await runOperator(
    {
      ...{ api, clock, random, log, namespace, leaseName },
      // Never reused: a restarted process must not take itself for the one before.
      identity: `${identity ?? podName ?? hostname()}_${random.uuid()}`,
      ...(nodeName !== undefined && { nodeName }),
      ...(podName !== undefined && { podName }),
    },
    signal,
  )
}
