import type { BackupStoreSpec } from '../../api/backup.ts'
import type { BackupHost } from '../../core/backup/host-choice.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { BackupDesk } from './backup-desk.ts'

/** A Secret that is missing is looked for again after this: nothing tells of it. */
export const lookAgainMs = 15_000

/** What all who make backups share. */
export interface BackupParts {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly desk: BackupDesk
  readonly hosts: () => readonly BackupHost[]
  /** Something secret has to reach the host. */
  readonly needsKey: (store: BackupStoreSpec) => boolean
  /** An update comes first: it wants a backup, or will in a moment. `untilMs`: when to look again, though nothing wakes. */
  readonly updateNext: () => { readonly untilMs?: number } | undefined
  /** Looks at all backups again. */
  readonly wake: () => void
  readonly wakeGrants: () => void
}

/** One that fails keeps no other up: all have their turn, then the first failure is thrown. Says when to look again. */
export async function eachInTurn<T>(
  items: Iterable<T>,
  turn: (item: T) => Promise<number | undefined>,
): Promise<readonly number[]> {
  const waits: number[] = []
  const failures: unknown[] = []
  for (const item of items) {
    try {
      const untilMs = await turn(item)
      if (untilMs !== undefined) waits.push(untilMs)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return waits
}
