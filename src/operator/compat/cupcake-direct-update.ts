// CUPCAKE's DirectUpdate as one of ours. Golden pairs: cupcake-golden.test.ts.

import { type CupcakeDirectUpdate, cupcakeDirectSpecSchema } from '../../api/cupcake.ts'
import { type DirectUpdateSpec, directUpdateSpecSchema } from '../../api/direct-update.ts'
import { type Bundle, durationOf, translateWork, workFields } from './cupcake-work.ts'
import { checked, readSpec, type Translated } from './translation.ts'

/** The fields of ours that follow theirs; whatever else is set on ours is a person's, and stays. */
export const cupcakeDirectFields = [
  ...(['kubernetes', 'strategy', 'nodeSelector', 'preflight', 'airGapped'] as const),
  ...(['dryRun', 'nodeTimeout', 'operationTimeout'] as const),
] as const satisfies readonly (keyof DirectUpdateSpec)[]

/** The ConfigMap that says where the bundle lies, where one is asked for. */
export function bundleMapOf(object: { readonly spec?: unknown }): string | undefined {
  const read = readSpec(cupcakeDirectSpecSchema.pick({ airGapped: true }), object.spec)
  const { enabled, bundleConfigMap } = ('value' in read && read.value.airGapped) || {}
  return enabled === true ? (bundleConfigMap ?? '') : undefined
}

export function translateDirectUpdate(
  { spec }: Pick<CupcakeDirectUpdate, 'spec'>,
  bundle: Bundle | undefined,
): Translated<DirectUpdateSpec> {
  const read = readSpec(cupcakeDirectSpecSchema, spec)
  if ('refusal' in read) return read
  if (bundle && 'problem' in bundle) return { refusal: bundle.problem, waits: true }
  const { targetVersion, dryRun, operationTimeout, nodeTimeout, ...work } = read.value
  const translated = translateWork({ ...work, version: targetVersion }, bundle)
  const notes = [...translated.notes]
  const timeout = (field: string, text: string, otherwise: string): string => {
    const found = durationOf(text)
    if (found === undefined) notes.push(`${field}: "${text}" is no duration such as 1h30m, so it is ${otherwise}`)
    return found ?? otherwise
  }
  const ours: DirectUpdateSpec = {
    ...translated.spec,
    ...(dryRun && { dryRun }),
    nodeTimeout: timeout('nodeTimeout', nodeTimeout, '30m'),
    operationTimeout: timeout('operationTimeout', operationTimeout, '2h'),
  }
  return checked(directUpdateSpecSchema, ours, notes, workFields)
}
