// Which files of its folders apt reads: its function GetListOfFilesInDir.

import type { Host } from '../../../ports/host.ts'
import { folderParts } from '../folder-parts.ts'
import type { RepositoryFile } from '../package-manager.ts'

type Parts = 'sources' | 'preferences'

/** Of what is after the last dot; empty is a name without one. */
const endings: Readonly<Record<Parts, readonly string[]>> = {
  sources: ['list', 'sources'],
  preferences: ['pref', ''],
}

export function isTakenByApt(name: string, parts: Parts): boolean {
  if (!/^[A-Za-z0-9_:-][A-Za-z0-9_:.-]*$/.test(name) || name.endsWith('.')) return false
  const dot = name.lastIndexOf('.')
  return endings[parts].includes(dot < 0 ? '' : name.slice(dot + 1))
}

export function aptSources(host: Host, signal: AbortSignal): Promise<readonly RepositoryFile[]> {
  return folderParts(host, '/etc/apt/sources.list.d', (name) => isTakenByApt(name, 'sources'), signal)
}

export function aptPreferences(host: Host, signal: AbortSignal): Promise<readonly RepositoryFile[]> {
  return folderParts(host, '/etc/apt/preferences.d', (name) => isTakenByApt(name, 'preferences'), signal)
}
