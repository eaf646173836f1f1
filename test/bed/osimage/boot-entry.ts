// What a boot loader reads: the entries ostree writes, of which the one with the highest version is started.

export interface BootEntry {
  /** The kernel command line. */
  readonly options: string
  /** The deployment it names, as a path in the sysroot. */
  readonly deployment: string
}

export function newestEntry(entries: readonly string[]): BootEntry {
  const newest = entries
    .map((text) => ({ version: Number(field(text, 'version')), options: field(text, 'options') }))
    .toSorted((one, other) => other.version - one.version)[0]
  const deployment = /(?:^| )ostree=(\S+)/.exec(newest?.options ?? '')?.[1]
  if (newest === undefined || deployment === undefined) {
    throw new Error(`no boot entry names an ostree deployment: ${JSON.stringify(entries)}`)
  }
  return { options: newest.options, deployment }
}

function field(text: string, name: string): string {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new Error(`a boot entry has no ${name}: ${text}`)
  return line.slice(name.length + 1).trim()
}
