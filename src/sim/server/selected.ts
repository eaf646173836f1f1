import type { Selection } from '../../ports/kube-api.ts'
import type { KindRules } from './kind-rules.ts'
import { badRequest } from './refusals.ts'
import { parseFieldSelector, parseLabelSelector } from './selectors.ts'
import type { StoredObject } from './stored-object.ts'

/** A selection made ready: the test, and the values by which objects and watchers are found without looking at all of them. */
export interface Selected {
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly nodeName: string | undefined
  /** Undefined where every object of the namespace matches. */
  readonly test: ((object: StoredObject) => boolean) | undefined
}

export function select(selection: Selection, rules: KindRules): Selected {
  const tests: ((object: StoredObject) => boolean)[] = []
  let { namespace } = selection
  let name: string | undefined
  let nodeName: string | undefined
  if (selection.labelSelector) {
    const matches = parseLabelSelector(selection.labelSelector)
    tests.push((object) => matches(object.metadata.labels))
  }
  for (const { field, value, equal } of selection.fieldSelector ? parseFieldSelector(selection.fieldSelector) : []) {
    const read = fieldReader(field, rules)
    tests.push((object) => (read(object) === value) === equal)
    if (!equal) continue
    if (field === 'metadata.name') name = value
    if (field === 'spec.nodeName') nodeName = value
    if (field === 'metadata.namespace') namespace ??= value
  }
  const test = tests.length === 0 ? undefined : (object: StoredObject) => tests.every((matches) => matches(object))
  return { namespace, name, nodeName, test }
}

export function isSelected(selected: Selected, object: StoredObject): boolean {
  if (selected.namespace !== undefined && object.metadata.namespace !== selected.namespace) return false
  return selected.test === undefined || selected.test(object)
}

function fieldReader(field: string, rules: KindRules): (object: StoredObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata.name
  if (field === 'metadata.namespace') return (object) => object.metadata.namespace ?? ''
  const read = rules.fields[field]
  if (read === undefined) throw badRequest(`field label not supported: ${field}`)
  return read
}
