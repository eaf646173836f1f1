// How an etcd that runs as a service of the host is set up, by the names of its flags. etcd takes a configuration file alone
// where it is given one, else its flags, then its environment.

import { parse } from 'yaml'

export type EtcdSettings = Readonly<Record<string, string>>

/** The words of its unit's command line. */
export function settingsOfArguments(words: readonly string[]): EtcdSettings {
  const settings: Record<string, string> = {}
  for (const [at, word] of words.entries()) {
    const flag = /^--?([a-z][a-z-]*)(?:=(.*))?$/.exec(word)
    const [, name, own] = flag ?? []
    const next = words[at + 1]
    if (name === undefined) continue
    settings[name] = own ?? (next === undefined || next.startsWith('-') ? 'true' : next)
  }
  return settings
}

/** An environment file: `ETCD_CERT_FILE="/etc/…"` sets `cert-file`; etcdctl's own variables keep their whole name. */
export function settingsOfEnvironment(text: string): EtcdSettings {
  const settings: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, name, , value] = /^\s*(?:export\s+)?(ETCD[A-Z_]*)=(["']?)(.*?)\2\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const flag = name.startsWith('ETCD_') ? name.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-') : name
    settings[flag] = value
  }
  return settings
}

/** A configuration file; the certificates for clients stand one level down. */
export function settingsOfFile(text: string): EtcdSettings {
  const settings: Record<string, string> = {}
  const read = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, each] of Object.entries(value)) {
      if (name === 'client-transport-security') read(each)
      else if (typeof each === 'string' || typeof each === 'boolean') settings[name] = String(each)
    }
  }
  try {
    read(parse(text))
  } catch {
    return {}
  }
  return settings
}

/** The address clients reach this member at; undefined where it tells none. */
export function ownEndpoint(settings: EtcdSettings): string | undefined {
  const told = [settings['advertise-client-urls'], settings['listen-client-urls']]
  const addresses = told.flatMap((list) => (list ?? '').split(',')).map((address) => address.trim())
  return addresses.find((address) => /^https?:\/\//.test(address) && !/:\/\/(0\.0\.0\.0|\[::\])[:/]/.test(address))
}

/** How many minor versions lie between two of etcd's; it is upgraded one at a time. */
export function etcdMinorsBetween(from: string, to: string): number | undefined {
  const minor = (version: string) => /^(?:\d+:)?(\d+)\.(\d+)/.exec(version)
  const [left, right] = [minor(from), minor(to)]
  if (!left || !right || left[1] !== right[1]) return undefined
  return Number(right[2]) - Number(left[2])
}
