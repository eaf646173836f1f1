// What a maintenance script said went wrong, kept on the host as long as its request is there.

import { maintenanceFailureSchema } from '../../api/journal.ts'
import type { Reason } from '../../api/reason.ts'
import type { HostFiles } from '../../ports/host-files.ts'
import { seal, unseal } from '../journal/sealed-file.ts'

export function failurePath(stateDir: string): string {
  return `${stateDir}/maintenance-failure.json`
}

export async function readFailure(files: HostFiles, stateDir: string): Promise<Reason | undefined> {
  const path = failurePath(stateDir)
  const text = await files.read(path)
  if (text === undefined) return undefined
  const { at, message } = unseal(path, text, maintenanceFailureSchema)
  return { code: 'MaintenanceFailed', message, since: at }
}

export async function noteFailure(files: HostFiles, stateDir: string, message: string, at: Date): Promise<void> {
  const text = seal({ at: at.toISOString(), message: message.slice(0, 2048) })
  await files.write(failurePath(stateDir), text, { mode: 0o600, owner: 'root', group: 'root' })
}

export function forgetFailure(files: HostFiles, stateDir: string): Promise<void> {
  return files.remove(failurePath(stateDir))
}
