import { KubeError } from '../../api/kube-error.ts'
import type { JsonPatchOperation } from '../../ports/kube-api.ts'
import { isJsonObject, type JsonObject, sameJson } from './json.ts'

/** RFC 6902 (add, replace, remove, test), copying only what lies on the path. A failed `test` is a Conflict. */
export function applyJsonPatch(target: JsonObject, operations: readonly JsonPatchOperation[]): JsonObject {
  let result: unknown = target
  for (const operation of operations) result = applyAt(result, pointer(operation.path), operation)
  if (!isJsonObject(result)) throw refused('the patch leaves no object')
  return result
}

function pointer(path: string): readonly string[] {
  if (path === '') return []
  if (!path.startsWith('/')) throw refused(`the path "${path}" does not begin with "/"`)
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function applyAt(value: unknown, path: readonly string[], operation: JsonPatchOperation): unknown {
  const [head, ...rest] = path
  if (head === undefined) return operation.op === 'test' ? tested(value, operation) : replaced(operation)
  if (Array.isArray(value)) return applyInArray(value, head, rest, operation)
  if (!isJsonObject(value)) throw missing(operation)
  if (rest.length > 0) {
    if (value[head] === undefined) throw missing(operation)
    const inner = applyAt(value[head], rest, operation)
    return inner === value[head] ? value : { ...value, [head]: inner }
  }
  if (operation.op === 'test') {
    tested(value[head], operation)
    return value
  }
  if (operation.op !== 'add' && value[head] === undefined) throw refused(`${operation.op} ${operation.path}: not there`)
  if (operation.op === 'remove') {
    const { [head]: _, ...others } = value
    return others
  }
  return { ...value, [head]: operation.value }
}

function applyInArray(
  list: readonly unknown[],
  head: string,
  rest: readonly string[],
  operation: JsonPatchOperation,
): unknown {
  const adding = operation.op === 'add' && rest.length === 0
  const index = head === '-' && adding ? list.length : Number(head)
  if (!Number.isInteger(index) || index < 0 || index >= list.length + (adding ? 1 : 0)) throw missing(operation)
  if (rest.length > 0) return list.with(index, applyAt(list[index], rest, operation))
  switch (operation.op) {
    case 'add':
      return list.toSpliced(index, 0, operation.value)
    case 'replace':
      return list.with(index, operation.value)
    case 'remove':
      return list.toSpliced(index, 1)
    case 'test':
      tested(list[index], operation)
      return list
  }
}

function replaced(operation: Exclude<JsonPatchOperation, { op: 'test' }>): unknown {
  if (operation.op === 'remove') throw refused('the whole object cannot be removed by a patch')
  return operation.value
}

function tested(value: unknown, operation: JsonPatchOperation): unknown {
  if (operation.op !== 'test' || sameJson(value ?? null, operation.value ?? null)) return value
  throw new KubeError('Conflict', `testing value ${operation.path} failed`, { status: 422, reason: 'Invalid' })
}

/** A test below something that is not there is a test that failed; any other operation there is a wrong patch. */
function missing(operation: JsonPatchOperation): KubeError {
  if (operation.op === 'test') {
    return new KubeError('Conflict', `testing path ${operation.path} failed: not there`, {
      status: 422,
      reason: 'Invalid',
    })
  }
  return refused(`${operation.op} ${operation.path}: missing path`)
}

function refused(message: string): KubeError {
  return new KubeError('Invalid', `the server rejected our request due to an error in our request: ${message}`, {
    status: 422,
    reason: 'Invalid',
  })
}
