// What this person may do, by the API server's own word. What they may not is shown all the same, with the right that is missing.

import { selfSubjectAccessReviews } from '../api/access-review.ts'
import { type ConsoleAction, consoleActions, type Rights } from '../api/console.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { KubeApi } from '../ports/kube-api.ts'

interface Right {
  readonly verb: string
  readonly group: string
  /** With its sub-resource, where it is one's: `directupdates/approval`. */
  readonly resource: string
}

const group = 'slipway.dev'
const patchUpdates: Right = { verb: 'patch', group, resource: 'directupdates' }
const createUpdates: Right = { verb: 'create', group, resource: 'directupdates' }
const approveUpdates: Right = { verb: 'update', group, resource: 'directupdates/approval' }
const patchNodes: Right = { verb: 'patch', group: '', resource: 'nodes' }
const patchProfiles: Right = { verb: 'patch', group, resource: 'nodeprofiles' }
const patchPolicy: Right = { verb: 'patch', group, resource: 'maintenancepolicies' }

/** Who may not create updates may only approve them, though to write that word they may patch. */
const steer = [patchUpdates, createUpdates]
const approve = [patchUpdates, approveUpdates]

const needs: Readonly<Record<ConsoleAction, readonly Right[]>> = {
  pause: steer,
  resume: steer,
  cancel: steer,
  retry: steer,
  'retry-profile': [patchProfiles],
  skip: steer,
  approve,
  'run-now': approve,
  hold: [patchNodes],
  release: [patchNodes],
  'stop-all': [patchPolicy],
  'go-on-all': [patchPolicy],
  create: [createUpdates],
}

export class RightsDesk {
  readonly #api: KubeApi
  readonly #whoAmI: (signal: AbortSignal) => Promise<string | undefined>

  constructor(api: KubeApi, whoAmI: (signal: AbortSignal) => Promise<string | undefined>) {
    this.#api = api
    this.#whoAmI = whoAmI
  }

  async of(signal: AbortSignal): Promise<Rights> {
    const all = [...new Set(Object.values(needs).flat())]
    const [user, ...allowed] = await Promise.all([
      this.#whoAmI(signal),
      ...all.map((right) => this.#isAllowed(right, signal)),
    ])
    const missing = new Set(all.filter((_, at) => !allowed[at]))
    const entries = consoleActions.map((action) => {
      const lacking = needs[action].filter((right) => missing.has(right))
      const entry = {
        allowed: lacking.length === 0,
        ...(lacking.length > 0 && { missing: lacking.map(rightText).join(', ') }),
      }
      return [action, entry] as const
    })
    return { user: user ?? 'unknown', actions: Object.fromEntries(entries) as Rights['actions'] }
  }

  /** Where the server does not tell, it is tried: then its refusal tells. */
  async #isAllowed({ verb, group: of, resource: path }: Right, signal: AbortSignal): Promise<boolean> {
    const [resource = path, subresource] = path.split('/')
    const { apiVersion, kind } = selfSubjectAccessReviews
    const resourceAttributes = { group: of, resource, verb, ...(subresource !== undefined && { subresource }) }
    try {
      const review = { apiVersion, kind, metadata: {}, spec: { resourceAttributes } }
      const { status } = await this.#api.create(selfSubjectAccessReviews, review, signal)
      return status?.allowed ?? true
    } catch (error) {
      if (isKubeError(error, 'Forbidden', 'NotFound', 'Invalid')) return true
      throw error
    }
  }
}

function rightText({ verb, group: of, resource }: Right): string {
  const [kind = resource, sub] = resource.split('/')
  const named = of === '' ? kind : `${kind}.${of}`
  return `${verb} ${named}${sub === undefined ? '' : `/${sub}`}`
}
