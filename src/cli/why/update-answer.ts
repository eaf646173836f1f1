import { conditionOf } from '../../core/update/outcome.ts'
import { countsText } from '../progress/picture.ts'
import type { RolloutSnapshot } from '../progress/sink.ts'
import { type ProgressView, progressView, stepOf } from '../progress/view.ts'
import { fewNames } from '../table.ts'
import { type Answer, adviceFor, type Finding, reasonFinding } from './finding.ts'

export function updateAnswer(snapshot: RolloutSnapshot): Answer {
  const view = progressView(snapshot)
  const { update } = snapshot
  const findings: Finding[] = []
  if (view.refusal) {
    const { code, message, since } = view.refusal
    const advice = adviceFor(code)
    findings.push({ text: `the operator refuses it: ${message}`, code, since, ...(advice !== undefined && { advice }) })
  } else findings.push({ text: standing(view, stepOf(update.status)) })
  if (view.paused) findings.push(reasonFinding('policy', { code: 'PolicyPaused', message: 'nothing new starts' }))
  const rollCall = snapshot.policy?.status?.rollCall
  if (rollCall) findings.push(reasonFinding('policy', rollCall.reason))
  for (const type of ['Blocked', 'Failed', 'Stalled']) {
    const condition = conditionOf(update, type)
    if (condition?.status !== 'True' || findings.some(({ text }) => text.endsWith(condition.message))) continue
    const advice = adviceFor(condition.reason)
    findings.push({
      text: `${type}: ${condition.message}`,
      code: condition.reason,
      since: condition.lastTransitionTime,
      ...(advice !== undefined && { advice }),
    })
  }
  for (const { nodes, phase, reason } of view.waits) findings.push(reasonFinding(`${fewNames(nodes)} ${phase}`, reason))
  if (!update.status && !view.refusal) {
    findings.push({
      text: 'the operator has not looked at it yet',
      advice: 'is it running? kubectl -n slipway-system get pods,leases',
    })
  }
  return { kind: 'DirectUpdate', name: view.name, findings }
}

function standing(view: ProgressView, step: string | undefined): string {
  const counts = view.counts.total === 0 ? '' : `: ${countsText(view.counts)}`
  return `it is ${view.phase}${step === undefined ? '' : `, ${step}`}${counts}`
}
