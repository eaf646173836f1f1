import type { HostFiles } from '../../../ports/host-files.ts'

const databases = { user: '/etc/passwd', group: '/etc/group' } as const

/** The host's name for a user or group given by number; looking at a file gives names. Anything else stays as it is. */
export async function accountName(files: HostFiles, kind: 'user' | 'group', account: string): Promise<string> {
  if (!/^[0-9]+$/.test(account)) return account
  const database = (await files.read(databases[kind])) ?? ''
  return nameOfNumber(database, account) ?? account
}

export function nameOfNumber(database: string, number: string): string | undefined {
  for (const line of database.split('\n')) {
    const [name, , id] = line.split(':')
    if (id === number) return name
  }
  return undefined
}
