// What a person does by the console: ordinary writes with their own rights, decided by the same code as the commands.

import { askedByAnnotation } from '../api/audit.ts'
import type { ActionAnswer, ActionRequest } from '../api/console.ts'
import { actionRequestSchema } from '../api/console-requests.ts'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../api/direct-update.ts'
import { type KubeObject, nodes, type ResourceType } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { maintenancePolicies, policyName, stopAnnotation } from '../api/maintenance-policy.ts'
import { type NodeProfile, nodeProfiles } from '../api/node-profile.ts'
import { type NodeState, nodeStates } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { Retry } from '../api/steering.ts'
import { isMarked } from '../core/node/node-marks.ts'
import { shapeFaults } from '../core/shape-faults.ts'
import { approve, cancel, pause, resume, retry, runNow, skip } from '../core/steering/decide-steering.ts'
import { holdingPatch, release, workDoubt } from '../core/steering/hold-node.ts'
import { retryProfile } from '../core/steering/retry-profile.ts'
import { eachListed } from '../kube/each-listed.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Random } from '../ports/random.ts'

export interface ActionDependencies {
  readonly api: KubeApi
  /** The cluster's: what is written carries its time. */
  readonly clusterClock: Clock
  readonly random: Random
  /** Undefined where the API server does not tell. */
  readonly whoAmI: (signal: AbortSignal) => Promise<string | undefined>
  readonly parseManifest: (text: string) => Promise<{ readonly name: string; readonly spec: DirectUpdateSpec }>
}

export function actionRequest(body: unknown): ActionRequest {
  const parsed = actionRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new SlipwayError('Usage', shapeFaults(parsed.error), { nextStep: 'reload the page: it may be an older one' })
}

interface Said {
  readonly spec: object
  readonly said: string
}

/** Another writer may come between reading and writing; then both are done again. */
const tries = 5

export class ActionDesk {
  readonly #deps: ActionDependencies

  constructor(deps: ActionDependencies) {
    this.#deps = deps
  }

  async carryOut(request: ActionRequest, signal: AbortSignal): Promise<ActionAnswer> {
    const { action, nodes: named = [], reason } = request
    const now = this.#deps.clusterClock.now()
    const list = named.length > 0 ? ` ${named.join(' ')}` : ''
    switch (action) {
      case 'pause':
        return this.#steer(request, pause, '', signal)
      case 'resume':
        return this.#steer(request, resume, '', signal)
      case 'cancel':
        return this.#steer(request, cancel(false), '', signal)
      case 'retry':
        return this.#retry(request, named, list, signal)
      case 'retry-profile':
        return this.#retryProfile(given(request.profile, 'a profile'), named, signal)
      case 'skip':
        return this.#steer(request, skip(mustHave(named, 'nodes')), list, signal)
      case 'approve':
        return this.#steer(request, approve(await this.#person(signal), now), '', signal)
      case 'run-now': {
        const why = given(reason, 'a reason')
        return this.#steer(request, runNow(why, await this.#person(signal), now), ` --reason ${quoted(why)}`, signal)
      }
      case 'hold':
      case 'release':
        return this.#eachNode(request, signal)
      case 'stop-all':
        return this.#setPaused(true, signal)
      case 'go-on-all':
        return this.#setPaused(false, signal)
      case 'create':
        return this.#create(given(request.manifest, 'a manifest'), signal)
    }
  }

  #retry(request: ActionRequest, named: readonly string[], list: string, signal: AbortSignal): Promise<ActionAnswer> {
    const uuid = this.#deps.random.uuid()
    const decide = async (found: DirectUpdate) =>
      retry(named, uuid, await this.#statesFor(found.spec, named, signal))(found)
    return this.#steer(request, decide, list, signal)
  }

  /** What tells whom the word before has not reached; undefined where it is not asked, or this person may not read it. */
  async #statesFor(
    { retry: before }: { readonly retry?: Retry | undefined },
    named: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly NodeState[] | undefined> {
    if (!before || named.length === 0) return undefined
    const states: NodeState[] = []
    try {
      await eachListed(this.#deps.api, nodeStates, {}, (state) => states.push(state), signal)
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return undefined
      throw error
    }
    return states
  }

  async #steer(
    request: ActionRequest,
    decide: (update: DirectUpdate) => Said | Promise<Said>,
    options: string,
    signal: AbortSignal,
  ): Promise<ActionAnswer> {
    const name = given(request.update, 'an update')
    const message = await this.#patchSpec(directUpdates, name, decide, signal)
    return { message, command: `slipway ${request.action} ${name}${options}` }
  }

  async #retryProfile(name: string, named: readonly string[], signal: AbortSignal): Promise<ActionAnswer> {
    const uuid = this.#deps.random.uuid()
    const decide = async (found: NodeProfile) =>
      retryProfile(found, named, uuid, await this.#statesFor(found.spec, named, signal))
    const message = await this.#patchSpec(nodeProfiles, name, decide, signal)
    return { message, command: ['slipway retry --profile', name, ...named].join(' ') }
  }

  async #patchSpec<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    decide: (found: T) => Said | Promise<Said>,
    signal: AbortSignal,
  ): Promise<string> {
    const { api } = this.#deps
    return again(async () => {
      const found = await api.get(type, { name }, signal)
      const { spec, said } = await decide(found)
      const { uid, resourceVersion } = found.metadata
      await api.patch(type, { name }, { type: 'merge', body: { metadata: { uid, resourceVersion }, spec } }, signal)
      return `${name}: ${said}`
    })
  }

  async #eachNode({ action, nodes: named, reason }: ActionRequest, signal: AbortSignal): Promise<ActionAnswer> {
    const all = mustHave(named, 'nodes')
    const said: string[] = []
    for (const name of all) {
      said.push(action === 'hold' ? await this.#hold(name, reason, signal) : await this.#release(name, signal))
    }
    const option = action === 'hold' && reason ? ` --reason ${quoted(reason)}` : ''
    const command = all.map((name) => `slipway ${action} ${name}${option}`).join('; ')
    return { message: said.join('; '), command }
  }

  async #hold(name: string, why: string | undefined, signal: AbortSignal): Promise<string> {
    const { api, clusterClock, whoAmI } = this.#deps
    const by = await whoAmI(signal)
    const at = clusterClock.now().toISOString()
    const body = holdingPatch({ ...(by !== undefined && { by }), ...(why && { why }), at })
    const node = await api.patch(nodes, { name }, { type: 'merge', body }, signal)
    const more = isMarked(node) ? '; what is under way there ends, and it stays cordoned after it' : ''
    return `${name} is on hold: no new work starts there${more}`
  }

  async #release(name: string, signal: AbortSignal): Promise<string> {
    const { api } = this.#deps
    const state = await api.get(nodeStates, { name }, signal).catch((error: unknown) => {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    })
    const doubt = workDoubt(name, state)
    return again(async () => {
      const { body, said } = release(await api.get(nodes, { name }, signal), state, doubt)
      if (body) await api.patch(nodes, { name }, { type: 'merge', body }, signal)
      return `${name}: ${said.join(', ')}`
    })
  }

  async #setPaused(paused: boolean, signal: AbortSignal): Promise<ActionAnswer> {
    const { api } = this.#deps
    const { apiVersion, kind } = maintenancePolicies
    const spec = { paused }
    // What a person says counts from then on: uninstall does not take it back.
    const body = { metadata: { annotations: { [stopAnnotation]: null } }, spec }
    try {
      await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
      await api.create(maintenancePolicies, { apiVersion, kind, metadata: { name: policyName }, spec }, signal)
    }
    return paused
      ? { message: 'stopped: nothing new starts, what is under way ends', command: 'slipway stop --all' }
      : { message: 'started: what waited goes on', command: 'slipway start --all' }
  }

  async #create(text: string, signal: AbortSignal): Promise<ActionAnswer> {
    const { api, parseManifest, whoAmI } = this.#deps
    const { name, spec } = await parseManifest(text)
    const by = await whoAmI(signal)
    const metadata = { name, ...(by !== undefined && { annotations: { [askedByAnnotation]: by } }) }
    const { apiVersion, kind } = directUpdates
    await api.create(directUpdates, { apiVersion, kind, metadata, spec }, signal)
    return { message: `${name} is created; it begins when it is planned`, command: 'kubectl create -f update.yaml' }
  }

  /** Nobody's word counts for another's. */
  async #person(signal: AbortSignal): Promise<string> {
    const name = await this.#deps.whoAmI(signal)
    if (name !== undefined) return name
    throw new SlipwayError('Refused', 'the API server does not tell who you are', {
      nextStep: 'ask for the right to create selfsubjectreviews',
    })
  }
}

async function again<T>(write: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left--) {
    try {
      return await write()
    } catch (error) {
      // Somebody wrote meanwhile: what was decided may be another by now.
      if (!isKubeError(error, 'Conflict') || left <= 1) throw error
    }
  }
}

function given(value: string | undefined, what: string): string {
  if (value !== undefined && value !== '') return value
  throw new SlipwayError('Usage', `the request names no ${what.replace(/^an? /, '')}`, { nextStep: `give ${what}` })
}

function mustHave(names: readonly string[] | undefined, what: string): readonly string[] {
  if (names && names.length > 0) return names
  throw new SlipwayError('Usage', `the request names no ${what}`, { nextStep: `choose ${what}` })
}

/** As a shell takes it, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
