// Who lets the next wave begin, or an update run outside of its windows, says so under their own name and has a right for it.

import { askedByAnnotation } from '../../api/audit.ts'
import { directUpdateSpecSchema } from '../../api/direct-update.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { ourGroup } from './right.ts'
import { labelsOf, notTheOperator, operatorName } from './rights.ts'
import { isSame, mayUpdate, validatingPolicy } from './validating-policy.ts'

/** The sub-resource whose `update` is the right to approve. Nothing is ever written there. */
export const approvalRight = 'approval'

/** Kinds that hold an update: itself, or as what is made when the time has come. */
export const updateKinds = ['directupdates', 'scheduledupdates', 'updateschedules'] as const

const specIn = (object: string) =>
  `request.resource.resource == 'directupdates' ? ${object}.spec : ${object}.spec.template.spec`

/** CEL variables: the update as it would be, and as it was (empty where it is new). */
export const updateVariables = {
  spec: specIn('object'),
  old: `request.operation == 'UPDATE' ? (${specIn('oldObject')}) : dyn({})`,
} as const

/** CEL: who asked for it, by its annotation; empty where nobody says. */
const askedByIn = (object: string) =>
  `has(${object}.metadata.annotations) && '${askedByAnnotation}' in ${object}.metadata.annotations ? ${object}.metadata.annotations['${askedByAnnotation}'] : ''`

const approverFields: readonly string[] = ['approvals', 'runNow']
const otherFields = Object.keys(directUpdateSpecSchema.shape).filter((field) => !approverFields.includes(field))
const listOf = (field: string, spec: string) => `has(${spec}.${field}) ? ${spec}.${field} : []`
const isUnderWay =
  "has(oldObject.status) && has(oldObject.status.phase) && oldObject.status.phase in ['InProgress', 'Paused', 'RequiresAttention']"
/** A strategy asks for approvals by its waves, or by the preset that has such waves. */
const asksForApproval =
  "has(variables.old.strategy) && (has(variables.old.strategy.waves) ? variables.old.strategy.waves.exists(w, has(w.promotion) && w.promotion == 'Manual') : has(variables.old.strategy.type) && variables.old.strategy.type == 'Canary')"

export function approvalPolicy(settings: InstallSettings): readonly Manifest[] {
  const needs = `needs the right to update directupdates/${approvalRight} (ClusterRole slipway-approver)`
  return validatingPolicy({
    name: 'slipway-approvals',
    labels: labelsOf(operatorName),
    operations: ['CREATE', 'UPDATE'],
    resources: updateKinds,
    concerns: notTheOperator(settings),
    variables: {
      ...updateVariables,
      before: listOf('approvals', 'variables.old'),
      added: `(${listOf('approvals', 'variables.spec')}).filter(a, !(a in variables.before))`,
      runsNow: `has(variables.spec.runNow) && !(${isSame('runNow', 'variables.old', 'variables.spec')})`,
      waived: `request.operation == 'UPDATE' && ${isUnderWay} && ${asksForApproval} && !(${isSame('strategy', 'variables.old', 'variables.spec')})`,
      others: [
        ...otherFields.map((field) => isSame(field, 'variables.old', 'variables.spec')),
        ...['labels', 'annotations'].map((field) => isSame(field, 'oldObject.metadata', 'object.metadata')),
      ]
        .map((same) => `(${same})`)
        .join(' && '),
      askedBy: askedByIn('object'),
      askedByBefore: `request.operation == 'UPDATE' ? (${askedByIn('oldObject')}) : ''`,
    },
    validations: [
      {
        expression: 'variables.added.all(a, a.by == request.userInfo.username)',
        messageExpression: `'an approval carries the name of whoever gives it: approvals[].by must be ' + request.userInfo.username`,
        reason: 'Forbidden',
      },
      {
        expression: '!variables.runsNow || variables.spec.runNow.by == request.userInfo.username',
        messageExpression: `'it carries the name of whoever wants it: runNow.by must be ' + request.userInfo.username`,
        reason: 'Forbidden',
      },
      {
        expression: ["''", 'variables.askedByBefore', 'request.userInfo.username']
          .map((name) => `variables.askedBy == ${name}`)
          .join(' || '),
        messageExpression: `'it carries the name of whoever asks for it: ${askedByAnnotation} must be ' + request.userInfo.username`,
        reason: 'Forbidden',
      },
      {
        expression: `size(variables.added) == 0 && !variables.runsNow && !variables.waived || ${mayUpdate(approvalRight)}`,
        messageExpression: `(variables.runsNow ? 'to run outside of windows and freezes' : variables.waived ? 'to change the waves of a running update that asks for approvals' : 'to approve a wave') + ' ${needs}'`,
        reason: 'Forbidden',
      },
      {
        // Whoever may only approve needs the right to patch updates: it is for their word and nothing else.
        expression: `request.operation == 'CREATE' || request.resource.resource != 'directupdates' || variables.others || authorizer.group('${ourGroup}').resource('directupdates').check('create').allowed()`,
        message:
          'who may not create updates may only approve them: to change anything else needs the right to create directupdates (ClusterRole slipway-editor)',
        reason: 'Forbidden',
      },
    ],
  })
}
