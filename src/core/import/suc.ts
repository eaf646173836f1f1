// Plans of system-upgrade-controller as DirectUpdates. Each is made paused: an import starts nothing.

import { type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { UpgradePlan } from '../../api/upgrade-plan.ts'
import { formatDuration } from '../duration.ts'
import type { Imported, ImportedObject, Remark } from './imported.ts'
import { planDrain, readSelector } from './plan-drain.ts'
import { type PlanContext, planWork } from './plan-work.ts'
import { readForeignWindow } from './time-window.ts'

type Say = (kind: Remark['kind'], what: string, text: string) => void

/** Fields of a Plan that need nothing here, or have nothing. */
const sayings: Readonly<Record<string, readonly ['NotNeeded' | 'NoEquivalent', string]>> = {
  serviceAccountName: ['NotNeeded', 'the agent works with its own rights'],
  tolerations: ['NotNeeded', 'agents run on every node, whatever its taints'],
  imagePullSecrets: ['NotNeeded', 'no image is run on the node'],
  priorityClassName: ['NotNeeded', 'no pod is made for the work'],
  exclusive: ['NotNeeded', 'all updates share the budgets of the policy'],
  cordon: ['NotNeeded', 'a node is always cordoned while it is worked on'],
  postCompleteDelay: ['NoEquivalent', 'set waves with a soak (strategy.waves), or a gate that shows when to go on'],
  postCompleteLabels: [
    'NoEquivalent',
    'no labels are written: a hook of AfterNode can do it, NodeState says what was done',
  ],
  customNodeLabels: [
    'NoEquivalent',
    'no labels are written: a hook of AfterNode can do it, NodeState says what was done',
  ],
}

const read = new Set([
  'concurrency',
  'jobActiveDeadlineSecs',
  'nodeSelector',
  'channel',
  'version',
  'secrets',
  'window',
  'prepare',
  'upgrade',
  'drain',
  ...Object.keys(sayings),
])

export function importPlans(plans: readonly UpgradePlan[], context: PlanContext): Imported {
  const names = new Set(plans.map(({ metadata }) => metadata.name))
  const parts = plans.map((plan) => importPlan(plan, names, context))
  return { objects: parts.flatMap(({ objects }) => objects), remarks: parts.flatMap(({ remarks }) => remarks) }
}

function importPlan(plan: UpgradePlan, names: ReadonlySet<string>, context: PlanContext): Imported {
  const { spec, metadata } = plan
  const remarks: Remark[] = []
  const say: Say = (kind, what, text) => remarks.push({ kind, what: `${metadata.name}: ${what}`, text })
  const { work, objects } = planWork(plan, context, say)
  const nodeSelector = selectorOf(plan, say)
  const windows = windowsOf(plan, say)
  const gates = afterOtherPlan(plan, names, say)
  const update: DirectUpdateSpec = {
    ...work,
    ...(nodeSelector && { nodeSelector }),
    strategy: { maxUnavailable: Math.max(1, Math.floor(spec.concurrency ?? 1)) },
    ...(windows.length > 0 && { windows: [...windows] }),
    drain: planDrain(spec.drain, say),
    ...deadlineOf(plan, say),
    ...(gates.length > 0 && { gates: [...gates] }),
    desiredState: 'Paused',
  }
  sayTheRest(plan, say)
  const { apiVersion, kind } = directUpdates
  const made: ImportedObject = { apiVersion, kind, metadata: { name: metadata.name }, spec: update }
  return { objects: [...objects, made], remarks }
}

/** A node that was taken out of a Plan by its label stays out. */
function selectorOf({ spec, metadata }: UpgradePlan, say: Say): DirectUpdateSpec['nodeSelector'] {
  const selector = spec.nodeSelector ? readSelector(spec.nodeSelector) : {}
  if (!selector) {
    say('ToFillIn', 'nodeSelector', 'it is no label selector')
    return { matchLabels: { '<label>': '<value>' } }
  }
  const disabled = `plan.upgrade.cattle.io/${metadata.name}`
  const kept = { key: disabled, operator: 'NotIn' as const, values: ['disabled'] }
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), kept] }
}

function windowsOf({ spec }: UpgradePlan, say: Say) {
  if (!spec.window) return []
  const { days, startTime, endTime, timeZone } = spec.window
  const given = {
    days: days ?? undefined,
    start: startTime ?? undefined,
    end: endTime ?? undefined,
    timeZone: timeZone ?? undefined,
  }
  const names = { days: 'window.days', start: 'window.startTime', end: 'window.endTime', timeZone: 'window.timeZone' }
  const { windows, remarks } = readForeignWindow(given, names)
  for (const { kind, what, text } of remarks) say(kind, what, text)
  if (windows.length > 0) say('Differs', 'window', 'it holds for each node, not only for the start of the whole')
  return windows
}

/** The images of k3s and RKE2 wait in `prepare PLAN` until another Plan is done. */
function afterOtherPlan({ spec }: UpgradePlan, names: ReadonlySet<string>, say: Say): readonly GateSpec[] {
  if (!spec.prepare) return []
  const [verb, other] = spec.prepare.args ?? []
  if (verb !== 'prepare' || other === undefined) {
    say('NoEquivalent', 'prepare', 'make it a hook of BeforeNode (spec.hooks), which runs before the node is drained')
    return []
  }
  if (!names.has(other))
    say('Differs', `prepare ${other}`, `it waits for a DirectUpdate of that name: import Plan ${other}, too`)
  return [
    {
      name: 'after-other-plan',
      type: 'Cel',
      timeout: '24h',
      object: { apiVersion: directUpdates.apiVersion, resource: directUpdates.plural, name: other },
      expression: "object.?status.?phase.orValue('') == 'Succeeded'",
    },
  ]
}

function deadlineOf({ spec }: UpgradePlan, say: Say): Pick<DirectUpdateSpec, 'nodeTimeout'> {
  const seconds = spec.jobActiveDeadlineSecs
  if (seconds === null || seconds === undefined) return {}
  if (seconds <= 0) {
    say('Differs', 'jobActiveDeadlineSecs=0', 'there is always a time-out: the longest is set')
    return { nodeTimeout: '99999h' }
  }
  return { nodeTimeout: formatDuration(seconds * 1000) }
}

function sayTheRest({ spec }: UpgradePlan, say: Say): void {
  for (const [field, value] of Object.entries(spec)) {
    if (value === null || value === undefined || value === false) continue
    const saying = Object.hasOwn(sayings, field) ? sayings[field] : undefined
    if (saying) say(saying[0], field, saying[1])
    else if (!read.has(field)) say('Unread', field, 'this field is not known: look up what it does')
  }
  for (const { name, path } of spec.secrets ?? []) {
    const text = `nothing is mounted at ${path}: a NodeProfile can put files of a Secret on the hosts (files[].secret)`
    say('NoEquivalent', `secrets ${name}`, text)
  }
  const parts = { upgrade: spec.upgrade, prepare: spec.prepare }
  for (const [part, container] of Object.entries(parts)) {
    for (const field of ['envs', 'envFrom', 'volumes', 'securityContext'] as const) {
      if (container?.[field] === undefined || container[field] === null) continue
      say('NoEquivalent', `${part}.${field}`, 'the work runs on the host itself, as root and without a container')
    }
  }
}
