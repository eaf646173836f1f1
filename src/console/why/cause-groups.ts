// Causes by who must act: what is really in the way, not node by node.

import type { CauseView, NodeTile } from '../../api/console.ts'

export interface CauseGroup {
  readonly waitsFor: CauseView['waitsFor']
  readonly title: string
  readonly note: string
  readonly causes: readonly CauseView[]
}

const groups = [
  { waitsFor: 'Person', title: 'Needs a person', note: 'nothing moves until someone acts' },
  { waitsFor: 'Cluster', title: 'Waits for the cluster', note: 'goes on by itself when the cause is gone' },
  { waitsFor: 'Clock', title: 'Waits for the clock', note: 'nothing is wrong' },
] as const

export function causeGroups(causes: readonly CauseView[]): readonly CauseGroup[] {
  return groups
    .map((group) => ({ ...group, causes: causes.filter(({ waitsFor }) => waitsFor === group.waitsFor) }))
    .filter((group) => group.causes.length > 0)
}

type Tiles = Readonly<Record<string, NodeTile>>

/** Every word of the search is in something the cause says or holds up. */
export function matchingCauses(causes: readonly CauseView[], search: string, tiles: Tiles): readonly CauseView[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return causes
  return causes.filter((cause) => {
    const chain = cause.because.flatMap(({ what, detail }) => [what, detail])
    const nodes = cause.nodes.length < cause.nodeCount ? [...cause.nodes, ...alikeOf(cause, tiles)] : cause.nodes
    const said = [cause.code, cause.title, cause.message, ...nodes, ...cause.updates, ...cause.profiles, ...chain]
    const text = said.join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Of a cause that does not name all its nodes: those that say the same of the same update or profile. */
function alikeOf({ code, updates, profiles }: CauseView, tiles: Tiles): readonly string[] {
  return Object.values(tiles)
    .filter(({ waits, reason, update, profile }) => {
      if (!waits || reason?.code !== code) return false
      if (update !== undefined) return updates.includes(update)
      return profile === undefined ? updates.length === 0 : profiles.includes(profile)
    })
    .map(({ name }) => name)
}

export function causesTitle(causes: readonly CauseView[]): string {
  const people = causes.filter(({ waitsFor }) => waitsFor === 'Person').length
  if (causes.length === 0) return 'Nothing waits'
  const all = causes.length === 1 ? '1 cause' : `${causes.length} causes`
  if (people === 0) return `${all}, none needs a person`
  if (causes.length === 1) return `${all}, it needs a person`
  return `${all}, ${people} of them ${people === 1 ? 'needs' : 'need'} a person`
}

/** `4,321 nodes`; where it holds up none by itself, the updates. */
export function heldText({ nodeCount, updates }: CauseView): string {
  const [count, noun] = nodeCount > 0 ? [nodeCount, 'node'] : [updates.length, 'update']
  if (count === 0) return ''
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
