import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { Rollout } from '../../api/node-state.ts'
import { cordonHolder } from '../../core/node/cordon-holder.ts'
import { isReady, readyCondition } from '../../core/node/node-facts.ts'
import { isRolledBack } from '../../core/node/rolled-back.ts'
import { runningStep } from '../../core/node/running-step.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import { conditionOf, type Refusal, refusal } from '../../core/update/outcome.ts'
import { operationOwner, rolloutOwner } from '../../core/update/work-owner.ts'
import { brokenAdvice } from './broken-advice.ts'
import { type Answer, adviceFor, type Finding, reasonFinding } from './finding.ts'
import type { NodeFacts } from './node-facts.ts'
import { failureOf } from './profile-answer.ts'
import { isOvertaken, turnOf } from './turn.ts'

/** Everything that concerns this node, most pressing first. */
export function nodeAnswer(facts: NodeFacts): Answer {
  const { node, state, policy } = facts
  const { name } = node.metadata
  const rollout = state?.status?.rollout
  const findings: Finding[] = []
  const queue = queueFindings(facts)
  // What is done explains nothing that is still to come.
  if (rollout?.phase === 'Done') findings.push(...queue, ...rolloutFindings(name, rollout, facts))
  else findings.push(...(rollout ? rolloutFindings(name, rollout, facts) : []), ...queue)
  findings.push(...profileFindings(facts))
  if (policy?.spec.paused)
    findings.push(reasonFinding('policy', { code: 'PolicyPaused', message: 'nothing new starts' }))
  if (policy?.status?.rollCall) findings.push(reasonFinding('policy', policy.status.rollCall.reason))
  if (!isReady(node)) findings.push({ text: `${name} is not Ready: ${readyMessage(node)}` })
  const holder = cordonHolder(node)
  if (holder !== undefined) {
    findings.push({
      text: `${name} is cordoned by ${holder}`,
      ...(holder === 'a person' && {
        advice: `Slipway never removes it; when it may come back: kubectl uncordon ${name}`,
      }),
    })
  }
  const grant = policy?.status?.ledger?.grants.find((entry) => entry.node === name)
  if (grant)
    findings.push({
      text: `the ledger counts ${name} as away for ${operationOwner(grant.holder)}`,
      since: grant.since,
    })
  if (!state?.status?.agent) {
    findings.push(reasonFinding(name, { code: 'AgentMissing', message: 'no agent has reported from it' }))
  }
  return {
    kind: 'Node',
    name,
    findings:
      findings.length > 0
        ? findings
        : [{ text: `nothing waits: no update concerns ${name}, and it is Ready and schedulable` }],
  }
}

function rolloutFindings(name: string, rollout: Rollout, { state, updates }: NodeFacts): readonly Finding[] {
  const advice = brokenAdvice(name, rollout, updates)
  const step = runningStep(state)
  const pods = rollout.drain?.pods ?? []
  const reported = state?.status?.agent?.order
  const findings: Finding[] = [
    {
      text: `${name} is ${rollout.phase} for ${rolloutOwner(rollout)}${step === undefined ? '' : `, at step ${step}`}${drainText(rollout)}`,
      since: rollout.since,
      ...(rollout.deadline !== undefined && rollout.phase !== 'Done' && { nextCheck: rollout.deadline }),
      ...(advice !== undefined && { advice }),
    },
  ]
  if (rollout.reason) findings.push(reasonFinding(name, rollout.reason))
  for (const { pod, reason } of pods) findings.push(reasonFinding(`pod ${pod}`, reason))
  if (reported?.reason && reported.reason.message !== rollout.reason?.message) {
    findings.push(reasonFinding('the agent says', reported.reason))
  }
  if (isRolledBack(state)) {
    findings.push(reasonFinding(name, { code: 'RolledBack', message: 'what the order had done was undone' }))
  }
  for (const failed of reported?.steps.filter((entry) => entry.state === 'Failed') ?? []) {
    findings.push({
      text: `step ${failed.name} failed${failed.logTail ? `; its last lines:\n${indented(failed.logTail)}` : ''}`,
    })
  }
  return findings
}

/** Why it waits its turn, told by the updates that have still to come to it. */
function queueFindings(facts: NodeFacts): readonly Finding[] {
  const { name } = facts.node.metadata
  const open = facts.updates.filter((update) => stillWants(update, facts.updates))
  return open.flatMap((update) => {
    const turn = turnOf(update, facts)
    if (turn === 'none') return []
    if (update.status?.phase === 'Failed') return turn === 'comes' ? [failureFinding(name, update)] : []
    if (turn === 'joined too late') {
      const text = `${name} joined after update ${update.metadata.name} had begun, and is none of its nodes`
      return [{ text, advice: 'make another update for it when this one is over' }]
    }
    const reason = update.status?.nodes?.find((entry) => entry.name === name)?.reason
    const waits = `${name} waits for its turn in update ${update.metadata.name}`
    return [reason ? reasonFinding(waits, reason) : updateFinding(waits, update)]
  })
}

/** One that was refused, failed or needs a person is not over: it goes on when the cause is put right. */
function stillWants(update: DirectUpdate, updates: readonly DirectUpdate[]): boolean {
  const { spec, status } = update
  if (status?.phase !== 'Failed') return !isEndedPhase(status?.phase)
  return spec.desiredState !== 'Cancelled' && !isOvertaken(update, updates)
}

function failureFinding(node: string, update: DirectUpdate): Finding {
  const { name } = update.metadata
  const text = `${node} waits for its turn in update ${name}, which failed`
  const refused = refusal(update)
  const advice = refused ? adviceFor(refused.code) : `when it is put right: slipway retry ${name}`
  const why = refused ?? standing(update, 'Failed')
  if (!why) return { text }
  const { code, message, since } = why
  return { text: `${text}: ${message}`, code, since, ...(advice !== undefined && { advice }) }
}

/** What holds the whole update up holds each of its nodes up. */
function updateFinding(waits: string, update: DirectUpdate): Finding {
  const held = refusal(update) ?? standing(update, 'Blocked')
  if (!held) return { text: `${waits}, which is ${update.status?.phase ?? 'Pending'}` }
  const { code, message, since } = held
  const advice = adviceFor(code)
  return { text: `${waits}: ${message}`, code, since, ...(advice !== undefined && { advice }) }
}

/** What a condition says that holds. */
function standing(update: DirectUpdate, type: 'Blocked' | 'Failed'): Refusal | undefined {
  const condition = conditionOf(update, type)
  if (condition?.status !== 'True') return undefined
  return { code: condition.reason, message: condition.message, since: condition.lastTransitionTime }
}

/** Profiles that are not applied everywhere, where they say why. That one failed elsewhere explains nothing here. */
function profileFindings({ profiles, state }: NodeFacts): readonly Finding[] {
  return profiles.flatMap(({ metadata, status }) => {
    const applied = status?.conditions?.find(({ type }) => type === 'Applied')
    const advice = applied?.status === 'False' ? adviceFor(applied.reason) : undefined
    if (!applied || advice === undefined) return []
    const { reason: code, message, lastTransitionTime: since } = applied
    if (status?.phase === 'Failed' && !failureOf(metadata.name, state?.status))
      return [
        {
          text: `NodeProfile ${metadata.name} failed on another node: ${message}`,
          since,
          advice: `where, and what to do: slipway why ${metadata.name}`,
        },
      ]
    return [{ text: `NodeProfile ${metadata.name}: ${message}`, code, since, advice }]
  })
}

function drainText({ phase, drain }: Rollout): string {
  return phase === 'Draining' && drain ? `, ${drain.left} of ${drain.total} pods left` : ''
}

function readyMessage(node: Node): string {
  const ready = readyCondition(node)
  return ready?.message ?? ready?.reason ?? 'its kubelet has not reported'
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `      ${line}`)
    .join('\n')
}
