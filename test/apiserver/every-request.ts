// Everything an API server can be asked, by its own discovery: every verb of every resource of every group. Whatever is not
// refused to a user is what that user can reach.

import { z } from 'zod'
import type { Answer, PlainRequest } from './plain-request.ts'

const groupsSchema = z.object({
  groups: z.array(z.object({ preferredVersion: z.object({ groupVersion: z.string() }) })),
})
const resourcesSchema = z.object({
  resources: z.array(
    z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean(), verbs: z.array(z.string()) }),
  ),
})
const namesSchema = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) })

export interface Resource {
  /** `v1`, `apps/v1` */
  readonly groupVersion: string
  /** `pods`, `pods/exec` */
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export async function allResources(send: PlainRequest): Promise<readonly Resource[]> {
  const { groups } = groupsSchema.parse((await send('GET', '/apis')).body)
  const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
  const found = await Promise.all(
    versions.map(async (groupVersion) => {
      const { resources } = resourcesSchema.parse((await send('GET', root(groupVersion))).body)
      return resources.map((resource) => ({ groupVersion, ...resource }))
    }),
  )
  return found.flat()
}

const root = (groupVersion: string) => (groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`)

/** The verbs that may be asked of any resource, whether it says so or not; sub-resources that are streams take get and create. */
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const
type Verb = (typeof verbs)[number]

const methods: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

export interface Reach {
  /** `patch nodestates.slipway.dev/status w1`, with the namespace where there is one: `get configmaps slipway-system/x` */
  readonly what: string
  readonly answer: Answer
}

export interface Target {
  readonly namespaces: readonly string[]
  /** Of objects without a namespace. */
  readonly names: readonly string[]
}

/** What of all that is not refused, by rights or by an admission policy. */
export async function reachOf(
  send: PlainRequest,
  admin: PlainRequest,
  { namespaces, names }: Target,
): Promise<readonly Reach[]> {
  const reached: Reach[] = []
  for (const resource of await allResources(admin)) {
    for (const namespace of resource.namespaced ? namespaces : [undefined]) {
      const targets = namespace === undefined ? names : [await nameOf(admin, resource, namespace)]
      reached.push(...(await attempts(send, resource, namespace, targets)))
    }
  }
  return reached
}

/** An object that is there, so that a request that is let through would find it. */
async function nameOf(admin: PlainRequest, { groupVersion, name }: Resource, namespace: string): Promise<string> {
  const [collection = ''] = name.split('/')
  const { body } = await admin('GET', `${root(groupVersion)}/namespaces/${namespace}/${collection}`)
  const found = namesSchema.safeParse(body)
  return (found.success ? found.data.items[0]?.metadata.name : undefined) ?? 'any'
}

async function attempts(
  send: PlainRequest,
  resource: Resource,
  namespace: string | undefined,
  names: readonly string[],
): Promise<readonly Reach[]> {
  const [collection = '', subResource] = resource.name.split('/')
  const base = root(resource.groupVersion) + (namespace === undefined ? '' : `/namespaces/${namespace}`)
  const group = resource.groupVersion.includes('/') ? `.${resource.groupVersion.split('/')[0]}` : ''
  const place = namespace === undefined ? '' : `${namespace}/`
  const asked: Promise<readonly Reach[]>[] = verbs.flatMap((verb) => {
    const isOfAll = subResource === undefined && ['list', 'watch', 'create', 'deletecollection'].includes(verb)
    if (subResource !== undefined && ['list', 'watch', 'deletecollection'].includes(verb)) return []
    return (isOfAll ? [''] : names).map(async (name) => {
      const tail = [collection, name, subResource].filter((part) => part !== undefined && part !== '').join('/')
      const query = verb === 'watch' ? '?watch=true&timeoutSeconds=1' : ''
      const answer = await send(methods[verb], `${base}/${tail}${query}`, contentFor(verb, resource, name))
      const sub = subResource === undefined ? '' : `/${subResource}`
      const what = `${verb} ${collection}${group}${sub} ${place}${name}`.trim()
      return isRefused(answer) ? [] : [{ what, answer }]
    })
  })
  return (await Promise.all(asked)).flat()
}

function contentFor(verb: Verb, { groupVersion, kind }: Resource, name: string) {
  if (verb === 'patch') {
    return { body: { metadata: { labels: { stolen: 'true' } } }, contentType: 'application/merge-patch+json' }
  }
  if (verb !== 'create' && verb !== 'update') return {}
  return { body: { apiVersion: groupVersion, kind, metadata: { name: name || 'stolen' } } }
}

/** 405: nobody may, whatever their rights. */
export function isRefused({ status, body }: Answer): boolean {
  if (status === 401 || status === 403 || status === 405) return true
  return status === 422 && (body.message?.includes('ValidatingAdmissionPolicy') ?? false)
}

/** Everything that is kept, by its place; without what the server itself keeps up to date. */
export async function allObjects(admin: PlainRequest): Promise<ReadonlyMap<string, object>> {
  const all = new Map<string, object>()
  for (const { groupVersion, name, verbs: can } of await allResources(admin)) {
    if (name.includes('/') || !can.includes('list') || name === 'componentstatuses') continue
    const { body } = await admin('GET', `${root(groupVersion)}/${name}`)
    for (const item of itemsSchema.parse(body).items) {
      const { namespace = '', name: own } = item.metadata
      const place = `${name}.${groupVersion} ${namespace}/${own}`
      // The server's own heartbeat.
      if (place.includes('leases') && own.startsWith('apiserver-')) continue
      all.set(place, { ...item, metadata: { ...item.metadata, managedFields: undefined, resourceVersion: undefined } })
    }
  }
  return all
}

const itemsSchema = z.object({
  items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }) })),
})

/** The places at which two pictures of a cluster differ. */
export function differences(before: ReadonlyMap<string, object>, after: ReadonlyMap<string, object>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((place) => JSON.stringify(before.get(place)) !== JSON.stringify(after.get(place)))
    .sort()
}
