export interface ShapeError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
}

/** What a schema found wrong, with the path of each field. */
export function shapeFaults(error: ShapeError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.map(String).join('.')}: ${message}` : message))
    .join('; ')
}
