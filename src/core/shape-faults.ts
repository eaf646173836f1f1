export interface ShapeError {
  readonly issues: readonly ShapeIssue[]
}

interface ShapeIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly code?: string | undefined
  readonly keys?: readonly string[]
}

/** What a schema found wrong, with the path of each field from where the schema begins, which may have a name of its own. */
export function shapeFaults(error: ShapeError, within?: string): string {
  return error.issues
    .map((issue) => {
      const path = [...(within === undefined ? [] : [within]), ...issue.path.map(String)]
      return path.length > 0 ? `${path.join('.')}: ${faultText(issue)}` : faultText(issue)
    })
    .join('; ')
}

/** The commonest slips in words of their own; whoever writes 1.36 in YAML has written a number. */
function faultText({ code, keys = [], message }: ShapeIssue): string {
  if (code === 'unrecognized_keys') return `there is no field ${keys.map((key) => JSON.stringify(key)).join(', ')} here`
  if (code === 'invalid_type' && message.endsWith('expected string, received number'))
    return 'it is a number, and text is wanted: put it in quotes'
  return message
}
