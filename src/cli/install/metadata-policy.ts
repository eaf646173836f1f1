// An owner that is not there ends an object, and a finalizer keeps it for ever: both are as good as the right to delete it.

import { logsAnnotation } from '../../api/node-state.ts'
import { updateKinds } from './approval-policy.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { ourGroup } from './right.ts'
import { labelsOf, notTheOperator, operatorName } from './rights.ts'
import { isSame, validatingPolicy } from './validating-policy.ts'

const before = 'oldObject.metadata'
const after = 'object.metadata'
const annotationsOf = (metadata: string) => `has(${metadata}.annotations) ? ${metadata}.annotations : dyn({})`
const theSame = (...fields: readonly string[]) =>
  fields.map((field) => `(${isSame(field, before, after)})`).join(' && ')
/** CEL: all entries of one map are in the other as well, but for the question for logs. */
const within = (one: string, other: string) =>
  `${one}.all(key, key == '${logsAnnotation}' || (key in ${other} && ${one}[key] == ${other}[key]))`

/** The garbage collector has that right: it takes owners and finalizers off. */
const mayDelete = `authorizer.group('${ourGroup}').resource(request.resource.resource).name(request.name).check('delete').allowed()`

export function metadataPolicy(settings: InstallSettings): readonly Manifest[] {
  return validatingPolicy({
    name: 'slipway-metadata',
    labels: labelsOf(operatorName),
    operations: ['UPDATE'],
    resources: [...updateKinds, 'nodeprofiles', 'maintenancepolicies', 'nodestates'],
    concerns: notTheOperator(settings),
    variables: { said: annotationsOf(after), saidBefore: annotationsOf(before) },
    validations: [
      {
        expression: `(${theSame('ownerReferences', 'finalizers')}) || ${mayDelete}`,
        messageExpression:
          "'to change owners or finalizers is as good as deleting it: it needs the right to delete ' + request.resource.resource",
        reason: 'Forbidden',
      },
      {
        expression: `request.resource.resource != 'nodestates' || (${theSame('labels')} && ${within('variables.said', 'variables.saidBefore')} && ${within('variables.saidBefore', 'variables.said')}) || ${mayDelete}`,
        message: `of a NodeState people write the annotation ${logsAnnotation} only: the rest is the operator’s`,
        reason: 'Forbidden',
      },
    ],
  })
}
