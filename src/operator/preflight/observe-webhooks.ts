import { endpointSlices, mutatingWebhooks, validatingWebhooks } from '../../api/kube-admission.ts'
import type { OutsideWebhook, WebhookSight } from '../../core/preflight/sights.ts'
import { guardedBy, isNarrowed } from '../../core/preflight/webhook-guards.ts'
import { eachListed } from '../../kube/each-listed.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

interface Guard {
  readonly name: string
  readonly what: string
  readonly narrowed: boolean
  readonly service: { readonly namespace: string; readonly name: string }
}

interface Endpoints {
  readonly ready: number
  readonly nodes: readonly string[]
}

/** Of those behind a service, who answers; whether an address outside does cannot be known from here. */
export async function observeWebhooks(api: KubeApi, signal: AbortSignal): Promise<readonly WebhookSight[]> {
  const guards: Guard[] = []
  const outside: OutsideWebhook[] = []
  for (const type of [validatingWebhooks, mutatingWebhooks]) {
    await eachListed(
      api,
      type,
      {},
      ({ metadata, webhooks = [] }) => {
        for (const webhook of webhooks) {
          const what = guardedBy(webhook).join(', ')
          if (what === '') continue
          const name = `${type.kind} ${metadata.name}, webhook ${webhook.name}`
          const asked = { name, what, narrowed: isNarrowed(webhook) }
          const { service, url } = webhook.clientConfig
          if (service) guards.push({ ...asked, service })
          else if (url !== undefined) outside.push({ ...asked, url })
        }
      },
      signal,
    )
  }
  const known = new Map<string, Promise<Endpoints>>()
  const served = await Promise.all(
    guards.map(async ({ service, ...asked }) => {
      const key = `${service.namespace}/${service.name}`
      const endpoints = known.get(key) ?? endpointsOf(api, service, signal)
      known.set(key, endpoints)
      return { ...asked, service: `service ${key}`, ...(await endpoints) }
    }),
  )
  return [...served, ...outside]
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
