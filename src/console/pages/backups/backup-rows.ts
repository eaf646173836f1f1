// All backups that are known of, and how things stand with them in a sentence.

import type { BackupView, StoreView, UpdateView } from '../../../api/console.ts'
import { spanText } from '../../parts/instant.ts'

export interface BackupRow extends BackupView {
  /** The update it was made for. */
  readonly update?: string
}

/** Those of updates and those of each store, each once, the newest first. */
export function backupRows(
  updates: Readonly<Record<string, UpdateView>>,
  stores: readonly StoreView[],
): readonly BackupRow[] {
  const ofUpdates = Object.values(updates).flatMap(({ name, backups }) =>
    backups.map((one) => ({ ...one, update: name })),
  )
  const rows = new Map<string, BackupRow>()
  const ofStores = stores.flatMap(({ last, backups = [] }) => [...backups, ...(last ? [last] : [])])
  for (const row of [...ofStores, ...ofUpdates]) rows.set(`${row.store} ${row.location}`, row)
  return [...rows.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

export function backupSentence(rows: readonly BackupRow[], stores: readonly StoreView[], now: number): string {
  const broken = stores.filter(({ problem }) => problem !== undefined).map(({ name }) => name)
  if (stores.length === 0) return 'No store for backups is set up'
  if (broken.length > 0) return `Backups to ${broken.join(' and ')} fail`
  const [newest] = rows
  if (!newest) return 'No backup was made yet'
  const age = spanText(Math.max(0, now - Date.parse(newest.at)))
  return `The last backup is ${age} old${newest.verified === undefined ? ' and was not checked' : ', checked and stored'}`
}

/** `412 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [size, unit] = [bytes, 0]
  while (size >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1]
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}
