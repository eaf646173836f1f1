// The operator's own judgement, on what it would read: what it would refuse is refused before anything is created.

import type { DirectUpdateSpec } from '../api/direct-update.ts'
import { nodes } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { type NodeProfile, nodeProfiles } from '../api/node-profile.ts'
import { nodeStates } from '../api/node-state.ts'
import type { CheckReport } from '../api/preflight.ts'
import { reasonCatalogue } from '../api/reason.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { drainOf } from '../core/drain/drain-policy.ts'
import { type Plan, planUpdate, resolvedSpec } from '../core/plan/plan-update.ts'
import { isChosen } from '../core/update/is-chosen.ts'
import { needsOffers } from '../core/versions/resolve.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { CommandContext } from './command-context.ts'
import { listAll, readPolicy } from './read-cluster.ts'
import { refuseUnknownSkips } from './refuse-unknown-skips.ts'
import { storedScript } from './script-content.ts'
import type { Draft } from './update-draft.ts'

/** Resolves with what was found but does not stand in the way. */
export async function refuseUnplanned(
  context: CommandContext,
  api: KubeApi,
  { update: { metadata, spec: wanted }, script }: Draft,
  namespace: string,
): Promise<readonly CheckReport[]> {
  const { clock, sha256, signal } = context
  const [found, states, profiles, serverVersion, stored, policy] = await Promise.all([
    listAll(api, nodes, {}, signal),
    listAll(api, nodeStates, {}, signal),
    visibleProfiles(api, signal),
    api.serverVersion(signal),
    script ? script.text : storedScript(api, namespace, wanted.script, signal),
    readPolicy(api, signal),
  ])
  refuseUnknownSkips(wanted, found.items)
  const spec = profiles ? wanted : withoutProfile(wanted)
  const byName = new Map(states.items.map((state) => [state.metadata.name, state]))
  const view = {
    name: metadata.name,
    spec,
    profiles: profiles ?? [],
    nodes: found.items,
    stateOf: (name: string) => byName.get(name),
    serverVersion,
    policy: policy?.spec,
    scriptSha256: stored === undefined ? undefined : sha256(stored),
    now: clock.now(),
    offers: needsOffers(spec) ? await context.versionsOnOffer(api, namespace, signal) : undefined,
  }
  const first = planUpdate(view)
  // Who has registries to ask knows more of versions than this command.
  if (first.verdict === 'refused' && first.versions) return [leftToOperator(first)]
  if (first.verdict === 'refused' && first.reason.code !== 'PreflightFailed') throw refusal(first)
  const selected = new Set(found.items.filter((node) => isChosen(spec, node)).map(({ metadata }) => metadata.name))
  const drain = drainOf(policy?.spec.drain, spec.drain)
  const question = { spec: resolvedSpec(view), serverVersion, concerns: (node: string) => selected.has(node), drain }
  const plan = planUpdate({ ...view, sights: await context.observe(api, question, signal) })
  // What this user may not see is for the operator to judge.
  if (plan.verdict === 'refused' && plan.preflight?.some(({ result }) => result === 'Failed')) throw refusal(plan)
  return plan.preflight ?? []
}

/** Undefined where this user may not see them: they are for the operator to judge. */
async function visibleProfiles(api: KubeApi, signal: AbortSignal): Promise<readonly NodeProfile[] | undefined> {
  try {
    return (await listAll(api, nodeProfiles, {}, signal)).items
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined
    throw error
  }
}

function withoutProfile({ profile: _unseen, ...rest }: DirectUpdateSpec): DirectUpdateSpec {
  return rest
}

function refusal({ reason }: Extract<Plan, { verdict: 'refused' }>): SlipwayError {
  return new SlipwayError('Refused', `${reason.code}: ${reason.message}`, {
    nextStep: `nothing was created; ${reasonCatalogue[reason.code]}`,
  })
}

function leftToOperator({ reason }: Extract<Plan, { verdict: 'refused' }>): CheckReport {
  return { check: 'VersionPath', result: 'Unknown', message: reason.message }
}

/** What a person should know although the update was created. */
export function remark({ err, options }: CommandContext, { check, result, message }: CheckReport): void {
  if (options.quiet) return
  if (result === 'Warning') err.write(`warning: ${check}: ${message}\n`)
  if (result === 'Unknown') err.write(`warning: ${check} is left to the operator: ${message}\n`)
}
