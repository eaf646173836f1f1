// Everything that is in a cluster, by name: what an installation brought, and what its removal left.

import type { ApiServer } from '../bed/api-server.ts'
import { kubectl } from '../rollout-rig/installation.ts'

/** What the cluster itself makes and forgets. */
const passing =
  /^(events|events\.events\.k8s\.io|endpoints|endpointslices\.discovery\.k8s\.io|leases\.coordination\.k8s\.io)$/

export async function inventory(server: ApiServer): Promise<readonly string[]> {
  const kinds = (await kubectl(server, ['api-resources', '--verbs=list', '--output=name'])).split('\n')
  const asked = kinds.filter((kind) => kind !== '' && !passing.test(kind))
  const format = '--output=jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}'
  const names = await kubectl(server, ['get', asked.join(','), '--all-namespaces', format])
  return names.split('\n').filter(Boolean).toSorted()
}

/** What a removal must leave of the nodes as it was. */
export async function nodesAsTheyAre(server: ApiServer): Promise<unknown> {
  const { items } = JSON.parse(await kubectl(server, ['get', 'nodes', '--output=json']))
  return items.map(({ metadata, spec }: { metadata: Record<string, unknown>; spec: unknown }) => ({
    name: metadata.name,
    labels: metadata.labels,
    annotations: metadata.annotations,
    spec,
  }))
}
