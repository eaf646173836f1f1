import { endpointSlices, mutatingWebhooks, validatingWebhooks, type Webhook } from '../../api/kube-admission.ts'
import type { WebhookSight } from '../../core/preflight/sights.ts'
import { guardedBy, isNarrowed } from '../../core/preflight/webhook-guards.ts'
import { eachListed } from '../../kube/each-listed.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

interface Guard {
  readonly name: string
  readonly webhook: Webhook
  readonly what: string
  readonly service: { readonly namespace: string; readonly name: string }
}

interface Endpoints {
  readonly ready: number
  readonly nodes: readonly string[]
}

/** Those behind a service of the cluster; whether an address outside answers cannot be known from here. */
export async function observeWebhooks(api: KubeApi, signal: AbortSignal): Promise<readonly WebhookSight[]> {
  const guards: Guard[] = []
  for (const type of [validatingWebhooks, mutatingWebhooks]) {
    await eachListed(
      api,
      type,
      {},
      ({ metadata, webhooks = [] }) => {
        for (const webhook of webhooks) {
          const what = guardedBy(webhook)
          const { service } = webhook.clientConfig
          if (!service || what.length === 0) continue
          const name = `${type.kind} ${metadata.name}, webhook ${webhook.name}`
          guards.push({ name, webhook, what: what.join(', '), service })
        }
      },
      signal,
    )
  }
  const known = new Map<string, Promise<Endpoints>>()
  return Promise.all(
    guards.map(async ({ name, webhook, what, service }) => {
      const key = `${service.namespace}/${service.name}`
      const asked = known.get(key) ?? endpointsOf(api, service, signal)
      known.set(key, asked)
      return { name, what, narrowed: isNarrowed(webhook), service: `service ${key}`, ...(await asked) }
    }),
  )
}

async function endpointsOf(
  api: KubeApi,
  { namespace, name }: Guard['service'],
  signal: AbortSignal,
): Promise<Endpoints> {
  const nodes = new Set<string>()
  let ready = 0
  await eachListed(
    api,
    endpointSlices,
    { namespace, labelSelector: `kubernetes.io/service-name=${name}` },
    ({ endpoints }) => {
      for (const { nodeName, conditions } of endpoints ?? []) {
        // Absent means ready, as the API says.
        if (conditions?.ready === false) continue
        ready += 1
        if (nodes.size < 2) nodes.add(nodeName ?? '')
      }
    },
    signal,
  )
  return { ready, nodes: [...nodes] }
}
