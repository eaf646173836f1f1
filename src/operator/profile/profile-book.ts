// What the profiles want of each node, looked at anew whenever something changed. Everything here follows from the API; a
// new leader looks once before it does anything.

import { type DesiredState, emptyState } from '../../api/desired-state.ts'
import type { NodeProfile, SecretVersion } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { ProfileFile } from '../../api/profile-items.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { asksForDrain } from '../../core/profile/asks-for-drain.ts'
import { matching } from '../../core/profile/desired-state.ts'
import {
  type Found,
  type Move,
  moveBetween,
  nodeWant,
  undrainedProfiles,
  type Want,
} from '../../core/profile/node-want.ts'
import { revisionsOf } from '../../core/profile/revision.ts'
import { sealingContext } from '../../core/profile/sealing-context.ts'
import type { Operation } from '../../core/update/operation.ts'
import { compareVersions } from '../../core/version.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { DesiredShelf } from './desired-shelf.ts'
import type { NodeAsk } from './node-ask.ts'
import { SourceReader } from './source-reader.ts'

type Wanted = Want & { readonly sha256: string | undefined }

export interface NodeEntry {
  readonly profiles: readonly NodeProfile[]
  /** Undefined while no agent that can apply profiles has reported. */
  readonly want: Wanted | undefined
  readonly move: Move
  readonly applied: string | undefined
  /** What was applied last; undefined when it is not known any more. */
  readonly before: DesiredState | undefined
}

export interface ProfileBookOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly shelf: DesiredShelf
  readonly namespace: string
  /** Of this operator. */
  readonly version: string
}

export class ProfileBook {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #shelf: DesiredShelf
  readonly #version: string
  readonly #sources: SourceReader
  #entries: ReadonlyMap<string, NodeEntry> = new Map()
  #revisions: ReadonlyMap<string, string> = new Map()
  /** Most nodes want the same; each is computed once a look. */
  readonly #wants = new Map<string, Wanted>()
  /** Of which nodes it could not tell what an update's profile asks of them. */
  readonly #unknown = new Map<string, { readonly node: string; readonly profile: string }>()
  hasSources = false

  constructor({ ports, cluster, shelf, namespace, version }: ProfileBookOptions) {
    this.#ports = ports
    this.#cluster = cluster
    this.#shelf = shelf
    this.#version = version
    this.#sources = new SourceReader(ports, namespace)
  }

  get entries(): ReadonlyMap<string, NodeEntry> {
    return this.#entries
  }

  /** `gone` for a profile nobody knows any more. */
  revision(profile: string): string {
    return this.#revisions.get(profile) ?? 'gone'
  }

  secretVersions(profile: NodeProfile): readonly SecretVersion[] {
    return this.#sources.told(profile)
  }

  async look(signal: AbortSignal): Promise<void> {
    const { nodes, states, profiles } = this.#cluster
    const all = [...profiles.values()]
    this.hasSources = await this.#sources.refresh(all, signal)
    this.#wants.clear()
    const applied = new Set([...states.values()].flatMap(({ status }) => status?.agent?.profile?.applied ?? []))
    for (const sha256 of applied) await this.#shelf.load(sha256, signal)
    const entries = new Map<string, NodeEntry>()
    for (const node of nodes.values()) {
      const state = states.get(node.metadata.name)
      const chosen = all.length > 0 ? matching(all, node.metadata.labels) : []
      if (chosen.length === 0 && state?.status?.agent?.profile?.applied === undefined) continue
      entries.set(node.metadata.name, this.#entry(chosen, state))
    }
    this.#entries = entries
    this.#revisions = revisionsOf(
      all,
      [...entries.values()].map((entry) => entry.profiles.map(({ metadata }) => metadata.name)),
      (name) => this.#sourceVersion(name),
    )
  }

  /** What is asked of the node to bring it to what is wanted; undefined while that cannot be told. */
  workFor(node: string, disruption: Operation['disruption']): Work | undefined {
    const { want, move, profiles } = this.#entries.get(node) ?? {}
    if (!want?.ok || want.sha256 === undefined || !move || !profiles) return undefined
    const { profile, ...work } = this.#work(want.sha256, move, profiles)
    const staysAtWork = disruption === 'None' && this.#knowsUndrained(node)
    const undrained = { mayDisturb: [...undrainedProfiles(profiles)].slice(0, 32) }
    return { profile: profile && { ...profile, ...(staysAtWork && { undrained }) }, ...work }
  }

  /** An older agent cannot read back from its journal what it does not know. */
  #knowsUndrained(node: string): boolean {
    const version = this.#cluster.states.get(node)?.status?.agent?.version
    return version !== undefined && compareVersions(version, this.#version) >= 0
  }

  /** What an update that rolls the profile out asks of the node. By the profiles as they are now: it may be new. */
  askOf(node: string, profile: string): NodeAsk {
    const state = this.#cluster.states.get(node)
    const profiles = matching([...this.#cluster.profiles.values()], this.#cluster.nodes.get(node)?.metadata.labels)
    if (!profiles.some(({ metadata }) => metadata.name === profile)) return { ask: 'known', work: {} }
    const before = this.#before(node, state)
    const want = state && this.#want(profiles, before, state, profile)
    if (want?.ok && want.sha256 !== undefined) {
      return {
        ask: 'known',
        work: this.#work(want.sha256, moveBetween(before, want.state, profiles, false, this.#all()), profiles),
      }
    }
    this.#unknown.set(`${node} ${profile}`, { node, profile })
    const noState = { code: 'AgentMissing' as const, message: `no agent on ${node} has reported` }
    return { ask: 'unknown', reason: want?.ok === false ? want.reason : noState }
  }

  /** Whether it can tell of a node by now what it could not. */
  hasFound(): boolean {
    const asked = [...this.#unknown.values()]
    this.#unknown.clear()
    // Each is asked: what is still unknown must be remembered again.
    return asked.map(({ node, profile }) => this.askOf(node, profile)).some(({ ask }) => ask === 'known')
  }

  /** Whether the node has the profile as it is now; one with rollout ByUpdate may be behind. */
  isCurrent(node: string, { metadata, spec }: NodeProfile): boolean {
    const entry = this.#entries.get(node)
    const state = this.#cluster.states.get(node)
    if (!entry || !state) return false
    const want =
      spec.rollout === 'ByUpdate' ? this.#want(entry.profiles, entry.before, state, metadata.name) : entry.want
    return want?.ok === true && (entry.applied ?? this.#shelf.nothing) === want.sha256
  }

  #entry(profiles: readonly NodeProfile[], state: NodeState | undefined): NodeEntry {
    const agent = state?.status?.agent
    const applied = agent?.profile?.applied
    const before = applied === undefined ? emptyState : this.#shelf.state(applied)
    if (!state || !agent?.drivers.includes('profile'))
      return { profiles, want: undefined, move: { move: 'none' }, applied, before }
    const want = this.#want(profiles, before, state)
    const drains = asksForDrain(state, want.sha256, undrainedProfiles(profiles))
    const move: Move = want.ok ? moveBetween(before, want.state, profiles, drains, this.#all()) : { move: 'none' }
    return { profiles, want, move, applied, before }
  }

  #all(): readonly NodeProfile[] {
    return [...this.#cluster.profiles.values()]
  }

  #before(node: string, state: NodeState | undefined): DesiredState | undefined {
    const entry = this.#entries.get(node)
    if (entry) return entry.before
    const applied = state?.status?.agent?.profile?.applied
    return applied === undefined ? emptyState : this.#shelf.state(applied)
  }

  #work(sha256: string, move: Move, profiles: readonly NodeProfile[]): Work {
    return {
      profile: {
        profiles: profiles.map(({ metadata }) => metadata.name).slice(0, 32),
        desired: this.#shelf.content(sha256),
      },
      ...(move.move === 'apply' && move.level === 'Reboot' && { reboot: 'Always' as const }),
    }
  }

  #want(
    profiles: readonly NodeProfile[],
    before: DesiredState | undefined,
    state: NodeState,
    released?: string,
  ): Wanted {
    const recipient = state.status?.agent?.publicKey
    const key = wantKey(profiles, state, released)
    const known = this.#wants.get(key)
    if (known) return known
    const want = nodeWant({ profiles, before, released, find: (profile, file) => this.#find(profile, file, recipient) })
    const made = { ...want, sha256: want.ok ? this.#shelf.remember(want.state, want.text) : undefined }
    this.#wants.set(key, made)
    return made
  }

  #find({ metadata }: NodeProfile, file: ProfileFile, recipient: string | undefined): Found {
    if (file.content !== undefined) return { material: { content: file.content } }
    const held = this.#sources.find(file)
    const source = file.configMap ?? file.secret
    if (!held) {
      const what = `${file.configMap ? 'ConfigMap' : 'Secret'} ${source?.name} with key ${source?.key}`
      return missing(
        'ProfileSourceMissing',
        `${file.path} of NodeProfile ${metadata.name} needs ${what}, which is not there`,
      )
    }
    const { text, version } = held
    if (text === undefined) {
      return missing(
        'ProfileSourceBinary',
        `${file.path} of NodeProfile ${metadata.name} needs text, and key ${source?.key} of Secret ${source?.name} is none`,
      )
    }
    if (file.configMap || !file.secret) return { material: { content: text } }
    const { sealing } = this.#ports
    if (recipient === undefined || !sealing) {
      return missing(
        'HostKeyMissing',
        `${file.path} of NodeProfile ${metadata.name} is secret, and the host has no key yet`,
      )
    }
    const what = { secret: file.secret.name, key: file.secret.key, version, recipient }
    const seal = () => sealing.seal(text, recipient, sealingContext(what))
    return { material: { sealed: this.#shelf.sealedOnce(what, seal) } }
  }

  #sourceVersion(name: string): string {
    const profile = this.#cluster.profiles.get(name)
    return profile ? this.#sources.versionOf(profile) : ''
  }
}

function missing(code: Reason['code'], message: string): Found {
  return { reason: { code, message } }
}

/** What a node's want depends on besides the sources. */
function wantKey(profiles: readonly NodeProfile[], { status }: NodeState, released: string | undefined): string {
  const versions = profiles.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
  const keepsApplied = profiles.some(({ spec }) => spec.rollout === 'ByUpdate')
  const isSecret = profiles.some(({ spec }) => spec.files?.some(({ secret }) => secret !== undefined))
  const agent = status?.agent
  return [
    ...versions,
    `released ${released ?? ''}`,
    keepsApplied ? (agent?.profile?.applied ?? '') : '',
    isSecret ? (agent?.publicKey ?? '') : '',
  ].join(' ')
}
