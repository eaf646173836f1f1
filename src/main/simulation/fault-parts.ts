// The parts of a fault history that can be left out, each by a name a person can type: a kind of fault, one strike of it
// (`conflict#2`), something the scenario has on top, or a worker. What is left is drawn as before.

import { SlipwayError } from '../../api/slipway-error.ts'
import { type ChanceFault, type ChanceFaultKind, type FaultKind, faultKinds } from '../../sim/fault-plan.ts'
import type { FaultHit } from '../../sim/faults.ts'
import { noExtras } from './fault-extras.ts'
import type { FaultHistory } from './fault-history.ts'
import type { FaultScenario } from './fault-scenario.ts'

/** What a scenario is without each of its parts. */
const plainScenario = {
  meddling: 'nothing',
  waves: undefined,
  failing: undefined,
  perZone: undefined,
  budget: undefined,
  kured: false,
  cordoned: undefined,
  troubledStart: false,
} as const satisfies Partial<FaultScenario>

const scenarioParts = Object.keys(plainScenario) as readonly (keyof typeof plainScenario)[]
const extraParts = (Object.keys(noExtras) as readonly (keyof typeof noExtras)[]).filter(
  (part) => part !== 'sentinelsFromMs' && part !== 'sickServer' && part !== 'attended',
)
/** Fewer would be another story. */
const fewestNodes = 4

/** What can be left out next, the largest first; strikes are those that were seen. */
export function partsOf({ scenario, plan }: FaultHistory, hits: readonly FaultHit[]): readonly string[] {
  const kinds = faultKinds.filter((kind) => kind in plan.chances || plan.events.some((event) => event.kind === kind))
  const inScenario = scenarioParts.filter((part) => scenario[part] !== plainScenario[part] && !isNeeded(scenario, part))
  const inExtras = extraParts.filter((part) => JSON.stringify(scenario.extras[part]) !== JSON.stringify(noExtras[part]))
  const workers = scenario.nodes.length > fewestNodes ? freeWorkers({ scenario, plan }) : []
  return [...kinds, ...inScenario, ...inExtras, ...workers, ...strikesOf(plan.chances, hits)]
}

export function leaveOut(history: FaultHistory, part: string): FaultHistory {
  const { scenario, plan } = history
  const [kind = '', strike] = part.split('#')
  if (faultKinds.some((known) => known === kind)) {
    return strike === undefined
      ? { ...history, plan: withoutKind(plan, kind as FaultKind) }
      : { ...history, plan: withoutStrike(plan, kind as ChanceFaultKind, Number(strike)) }
  }
  const inScenario = scenarioParts.find((known) => known === part)
  if (inScenario) return { ...history, scenario: { ...scenario, [inScenario]: plainScenario[inScenario] } }
  const inExtras = extraParts.find((known) => known === part)
  if (inExtras) {
    const extras = { ...scenario.extras, [inExtras]: noExtras[inExtras] }
    return { ...history, scenario: { ...scenario, extras } }
  }
  if (scenario.nodes.some(({ name }) => name === part))
    return { ...history, scenario: { ...scenario, nodes: scenario.nodes.filter(({ name }) => name !== part) } }
  throw new SlipwayError('Usage', `the history of seed ${history.seed} has no part "${part}"`, {
    nextStep: `it has ${partsOf(history, []).join(', ')}, and single strikes such as conflict#1`,
  })
}

/** The person's cordon would be the one node that may be away. */
function isNeeded({ cordoned }: FaultScenario, part: string): boolean {
  return part === 'budget' && cordoned !== undefined
}

/** Workers nothing else speaks of. */
function freeWorkers({ scenario, plan }: Pick<FaultHistory, 'scenario' | 'plan'>): readonly string[] {
  const { cordoned, failing, meddledNode, extras } = scenario
  const { maintained, rebooting, skipped, marked, pool, meddlings, visits } = extras
  const named = new Set([
    cordoned,
    failing,
    meddledNode,
    maintained,
    rebooting,
    skipped,
    marked,
    ...pool,
    ...[...meddlings, ...visits].map(({ node }) => node),
  ])
  for (const { node } of plan.events) named.add(node)
  return scenario.nodes
    .filter(({ name, role }) => role === 'worker' && !named.has(name))
    .map(({ name }) => name)
    .reverse()
}

function strikesOf(chances: FaultHistory['plan']['chances'], hits: readonly FaultHit[]): readonly string[] {
  return (Object.entries(chances) as readonly (readonly [ChanceFaultKind, ChanceFault])[]).flatMap(([kind, fault]) => {
    const struck = hits.filter((hit) => hit.kind === kind).length + fault.spared.length
    const strikes = Array.from({ length: struck }, (_, index) => index + 1)
    const left = strikes.filter((strike) => !fault.spared.includes(strike))
    return left.length < 2 ? [] : left.map((strike) => `${kind}#${strike}`)
  })
}

function withoutKind(plan: FaultHistory['plan'], kind: FaultKind): FaultHistory['plan'] {
  const chances = Object.fromEntries(Object.entries(plan.chances).filter(([known]) => known !== kind))
  return { ...plan, chances, events: plan.events.filter((event) => event.kind !== kind) }
}

function withoutStrike(plan: FaultHistory['plan'], kind: ChanceFaultKind, strike: number): FaultHistory['plan'] {
  const fault = plan.chances[kind]
  if (!fault) return plan
  return { ...plan, chances: { ...plan.chances, [kind]: { ...fault, spared: [...fault.spared, strike] } } }
}
