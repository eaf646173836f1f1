// Every node's tile and every update's roster. A change is looked at where it happened: one node, one tile.

import type { NodeTile } from '../api/console.ts'
import type { DirectUpdate } from '../api/direct-update.ts'
import { policyName } from '../api/maintenance-policy.ts'
import type { Reason } from '../api/reason.ts'
import { isSameTile, nodeTile, type Place } from '../core/view/node-tile.ts'
import { UpdateRoster } from '../core/view/update-roster.ts'
import type { ClusterWatch } from './cluster-watch.ts'

interface Followed {
  readonly mark: string
  readonly roster: UpdateRoster
  update: DirectUpdate
  /** What the update says of nodes it has not touched. */
  listed: ReadonlyMap<string, Reason>
}

export class Fleet {
  readonly tiles = new Map<string, NodeTile>()
  readonly waiting = new Set<string>()
  readonly #watch: ClusterWatch
  readonly #followed = new Map<string, Followed>()
  #holders: ReadonlyMap<string, string> = new Map()

  constructor(watch: ClusterWatch) {
    this.#watch = watch
  }

  roster(update: string): UpdateRoster | undefined {
    return this.#followed.get(update)?.roster
  }

  /** Brings all that changed up to date; returns the tiles that look different, and the updates whose nodes moved. */
  refresh(dirty: Dirty): {
    readonly tiles: ReadonlyMap<string, NodeTile | null>
    readonly updates: ReadonlySet<string>
  } {
    const names = new Set(dirty.nodes)
    const updates = new Set(dirty.updates)
    if (dirty.policy) this.#followGrants(names)
    for (const update of dirty.updates) this.#followUpdate(update, names)
    const moved = new Set<string>()
    for (const name of names) {
      for (const [update, followed] of this.#followed) {
        if (!this.#note(followed, name)) continue
        updates.add(update)
        if (followed.roster.isUnsorted) moved.add(update)
      }
    }
    for (const update of moved) this.#collectMoved(update, names)
    return { tiles: this.#tilesOf(names), updates }
  }

  #note({ roster }: Followed, name: string): boolean {
    const isHeld = this.#holders.get(name) === roster.operation.id
    return roster.note(name, this.#watch.nodes.get(name), this.#watch.states.get(name), isHeld)
  }

  #followGrants(names: Set<string>): void {
    const grants = this.#watch.policies.get(policyName)?.status?.ledger?.grants ?? []
    const holders = new Map(grants.map(({ node, holder }) => [node, holder]))
    for (const [node, holder] of holders) if (this.#holders.get(node) !== holder) names.add(node)
    for (const node of this.#holders.keys()) if (!holders.has(node)) names.add(node)
    this.#holders = holders
  }

  #followUpdate(name: string, names: Set<string>): void {
    const update = this.#watch.updates.get(name)
    const before = this.#followed.get(name)
    if (!update) {
      for (const member of before?.roster.members ?? []) names.add(member.name)
      this.#followed.delete(name)
      return
    }
    const listed = new Map(
      (update.status?.nodes ?? []).flatMap(({ name: node, reason }) => (reason ? [[node, reason]] : [])),
    )
    for (const node of [...(before?.listed.keys() ?? []), ...listed.keys()]) names.add(node)
    const mark = UpdateRoster.mark(update)
    if (before?.mark === mark) {
      before.update = update
      before.listed = listed
      return
    }
    const roster = new UpdateRoster(update, this.#watch.policies.get(policyName))
    this.#followed.set(name, { mark, roster, update, listed })
    for (const node of this.#watch.nodes.values()) names.add(node.metadata.name)
  }

  /** Whoever comes in another wave than its tile says. */
  #collectMoved(update: string, names: Set<string>): void {
    const roster = this.#followed.get(update)?.roster
    if (!roster) return
    for (const { name } of roster.members) {
      const tile = this.tiles.get(name)
      if (tile?.update === update && tile.wave !== roster.waveOf(name)) names.add(name)
    }
  }

  #tilesOf(names: ReadonlySet<string>): ReadonlyMap<string, NodeTile | null> {
    const changed = new Map<string, NodeTile | null>()
    for (const name of names) {
      const node = this.#watch.nodes.get(name)
      const before = this.tiles.get(name)
      if (!node) {
        if (before) changed.set(name, null)
        this.tiles.delete(name)
        this.waiting.delete(name)
        continue
      }
      const tile = nodeTile(node, this.#watch.states.get(name), this.#placeOf(name))
      if (before && isSameTile(before, tile)) continue
      this.tiles.set(name, tile)
      if (tile.waits) this.waiting.add(name)
      else this.waiting.delete(name)
      changed.set(name, tile)
    }
    return changed
  }

  #placeOf(name: string): Place | undefined {
    const rollout = this.#watch.states.get(name)?.status?.rollout
    const isOfUpdate = (rollout?.kind ?? 'DirectUpdate') === 'DirectUpdate'
    let best: { readonly rank: number; readonly followed: Followed } | undefined
    for (const followed of this.#followed.values()) {
      const member = followed.roster.get(name)
      if (!member) continue
      const isOfRollout = isOfUpdate && rollout?.update === followed.update.metadata.name
      const isOpen = !followed.roster.isEnded
      const isLive = isOfRollout && rollout.phase !== 'Done'
      const wants = isOpen && member.standing !== 'skipped' && member.standing !== 'done'
      const rank = isLive ? 4 : wants ? 3 : isOpen ? 2 : isOfRollout ? 1 : 0
      if (rank > 0 && (!best || rank > best.rank)) best = { rank, followed }
    }
    if (!best) return undefined
    const { roster, update, listed } = best.followed
    const standing = roster.get(name)?.standing
    if (standing === undefined) return undefined
    return { update: update.metadata.name, standing, wave: roster.waveOf(name), reason: listed.get(name) }
  }
}

/** What has to be looked at again. */
export interface Dirty {
  readonly nodes: ReadonlySet<string>
  readonly updates: ReadonlySet<string>
  readonly policy: boolean
}
