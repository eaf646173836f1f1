/** What a registry asks for before it answers (WWW-Authenticate). */
export type Challenge =
  | { readonly scheme: 'basic' }
  /** A token that another server hands out. */
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service?: string; readonly scope?: string }

/** The first we can meet, a token before a password; undefined where there is none. */
export function readChallenge(header: string): Challenge | undefined {
  const parts = [...header.matchAll(/(?:^|,)\s*(Bearer|Basic)(?=\s|,|$)/gi)]
  const found = parts.map((part, index) => {
    const text = header.slice(part.index + part[0].length, parts[index + 1]?.index)
    return { scheme: part[1]?.toLowerCase(), fields: fieldsOf(text) }
  })
  const token = found.find(({ scheme, fields }) => scheme === 'bearer' && fields.has('realm'))
  if (token) {
    const { fields } = token
    const [service, scope] = [fields.get('service'), fields.get('scope')]
    return {
      scheme: 'bearer',
      realm: fields.get('realm') ?? '',
      ...(service !== undefined && { service }),
      ...(scope !== undefined && { scope }),
    }
  }
  return found.some(({ scheme }) => scheme === 'basic') ? { scheme: 'basic' } : undefined
}

function fieldsOf(text: string): ReadonlyMap<string, string> {
  const fields = [...text.matchAll(/([A-Za-z_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)]
  return new Map(
    fields.map(([, name = '', quoted, bare = '']) => [
      name.toLowerCase(),
      quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, '$1'),
    ]),
  )
}
