// How much of each budget is used, and by whom.

import type { BudgetSpec } from '../../api/budget.ts'
import type { BudgetView, NodeTile, SlotView } from '../../api/console.ts'
import type { Node } from '../../api/kube.ts'
import type { Grant, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { resolveCount } from '../count.ts'
import { selects } from '../label-selector.ts'
import { budgetSetName } from '../ledger/budget-name.ts'
import { maintenancePrefix } from '../maintenance/wish.ts'
import { isReady, isUnavailable, whyAway } from '../node/node-facts.ts'
import { holdOf } from '../node/node-marks.ts'
import { profileRunOf } from '../profile/operation-id.ts'
import { ownerOfOperation } from '../update/operation.ts'
import { operationOwner } from '../update/work-owner.ts'

export interface BudgetFacts {
  readonly nodes: Iterable<Node>
  readonly policy: MaintenancePolicy | undefined
  readonly tileOf: (node: string) => NodeTile | undefined
}

/** Without a budget of the cluster each update keeps its own; then all that is away is shown against no limit of ours. */
export function budgetViews({ nodes, policy, tileOf }: BudgetFacts): readonly BudgetView[] {
  const specs = policy?.spec.budgets ?? []
  const grants = new Map((policy?.status?.ledger?.grants ?? []).map((grant) => [grant.node, grant]))
  const sets = specs.map(() => new Map<string, { readonly title: string; members: number; used: SlotView[] }>())
  for (const node of nodes) {
    const grant = grants.get(node.metadata.name)
    const slot = grant || isUnavailable(node) ? slotOf(node, grant, tileOf(node.metadata.name)) : undefined
    for (const [at, spec] of specs.entries()) {
      const set = setOf(sets[at], spec, node)
      if (!set) continue
      set.members++
      if (slot) set.used.push(slot)
    }
  }
  return specs.flatMap((spec, at) =>
    [...(sets[at]?.values() ?? [])]
      .map(({ title, members, used }) => ({ title, limit: resolveCount(spec.maxUnavailable, members), used }))
      .toSorted((a, b) => collator.compare(a.title, b.title)),
  )
}

const collator = new Intl.Collator('en', { numeric: true })

type Sets = Map<string, { readonly title: string; members: number; used: SlotView[] }>

function setOf(sets: Sets | undefined, spec: BudgetSpec, { metadata }: Node) {
  if (!sets || !selects(spec.nodeSelector, metadata.labels)) return undefined
  const value = spec.per === undefined ? undefined : metadata.labels?.[spec.per]
  const title = budgetSetName(spec, value)
  const known = sets.get(title)
  if (known) return known
  const made = { title, members: 0, used: [] }
  sets.set(title, made)
  return made
}

function slotOf(node: Node, grant: Grant | undefined, tile: NodeTile | undefined): SlotView {
  const phase = tile?.phase ?? (isReady(node) ? 'Cordoned' : 'NotReady')
  const since = grant?.since ?? tile?.since
  return {
    node: node.metadata.name,
    phase,
    holder: grant ? holderText(grant.holder) : 'not ours',
    ...(since !== undefined && { since }),
    returnsWhen: grant ? returnOfOurs(tile, grant.holder) : returnOfOthers(node),
  }
}

/** An update is known by its name. */
function holderText(holder: string): string {
  return operationOwner(holder).replace(/^update /, '')
}

function returnOfOurs(tile: NodeTile | undefined, holder: string): string {
  switch (tile?.phase) {
    case 'Draining':
      return tile.reason ? `drained and worked on; now: ${tile.reason.message}` : 'drained, worked on and healthy again'
    case 'Failed':
    case 'RequiresAttention':
      return `a person has put it right: ${wayBack(tile.name, holder)}`
    case 'Verifying':
      return 'it has shown itself healthy'
    default:
      return 'its work is done and it is healthy again'
  }
}

function wayBack(node: string, holder: string): string {
  if (holder.startsWith(maintenancePrefix)) return `slipway release ${node}`
  const profile = profileRunOf(holder)?.profile
  return `slipway retry ${profile === undefined ? ownerOfOperation(holder) : `--profile ${profile}`} ${node}`
}

function returnOfOthers(node: Node): string {
  const hold = holdOf(node)
  if (hold !== undefined) return `released by the one who holds it: ${hold}`
  if (!isReady(node)) return 'it is Ready again'
  return `${whyAway(node)}: kubectl uncordon ${node.metadata.name}`
}
