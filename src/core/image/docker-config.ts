import { dockerConfigSchema } from '../../api/registry-settings.ts'
import { jsonOf } from '../json-text.ts'

export interface NameAndPassword {
  readonly username: string
  readonly password: string
}

/** Under which names the registry that references call docker.io has its credentials. */
const alsoKnownAs: Readonly<Record<string, readonly string[]>> = {
  'docker.io': ['index.docker.io', 'registry-1.docker.io'],
}

/** The data of a Secret, decoded: kubernetes.io/dockerconfigjson, or a name and a password. Undefined: nothing for this registry. */
export function credentialsIn(data: Readonly<Record<string, string>>, host: string): NameAndPassword | undefined {
  const { username, password } = data
  if (username !== undefined && password !== undefined) return { username: username.trim(), password: password.trim() }
  const config = dockerConfigSchema.safeParse(jsonOf(data['.dockerconfigjson'] ?? ''))
  if (!config.success) return undefined
  const names = new Set([host, ...(alsoKnownAs[host] ?? [])])
  const entry = Object.entries(config.data.auths).find(([address]) => names.has(hostOf(address)))?.[1]
  if (!entry) return undefined
  if (entry.username !== undefined && entry.password !== undefined) {
    return { username: entry.username, password: entry.password }
  }
  return entry.auth === undefined ? undefined : pairIn(entry.auth)
}

/** `https://registry.example/v1/` and `registry.example` are the same. */
function hostOf(address: string): string {
  return address.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
}

function pairIn(auth: string): NameAndPassword | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(auth) || auth.replace(/=+$/, '').length % 4 === 1) return undefined
  const bytes = Uint8Array.from(atob(auth), (character) => character.charCodeAt(0))
  const [, username, password] = /^([^:]+):(.*)$/s.exec(new TextDecoder().decode(bytes)) ?? []
  return username === undefined || password === undefined ? undefined : { username, password }
}
