const words: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'it is not there',
  EISDIR: 'it is a folder',
  EACCES: 'you have no right to',
  EPERM: 'you have no right to',
}

/** Why a file cannot be read, for a person who typed its name: the system's own words name it again, and its call. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return words[code] ?? (error instanceof Error ? error.message : String(error))
}

/** Where YAML breaks; the parser goes on with a picture of the line, which needs lines of its own. */
export function yamlFault(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.replace(/:$/, '')
}
