// The note of where the last good backup went lies on the host with credentials and keys in clear. So the agent tells which store it is
// of, and removes it when it hears that the store is no more.

import type { KeptStore } from '../../api/backup.ts'
import type { SideTaskContext } from '../side-task.ts'
import { forgetStore, keepStore, readStore } from './backup-record.ts'

export class StoreNote {
  readonly #context: SideTaskContext
  #name: string | undefined

  constructor(context: SideTaskContext) {
    this.#context = context
  }

  /** What an earlier agent left. */
  async find(): Promise<void> {
    const { host, stateDir, log } = this.#context
    try {
      this.#tell((await readStore(host.disk, stateDir))?.store.name)
    } catch (error) {
      // The next good backup writes it anew.
      log.warn('the note of where the last backup went cannot be read', { error: String(error) })
    }
  }

  async keep(kept: KeptStore): Promise<void> {
    const { host, stateDir } = this.#context
    await keepStore(host.disk, stateDir, kept)
    this.#tell(kept.store.name)
  }

  /** Of another store it stays. */
  async forget(store: string | undefined): Promise<void> {
    const { host, stateDir, log } = this.#context
    if (store === undefined || store !== this.#name) return
    try {
      await forgetStore(host.disk, stateDir)
      log.info('the settings and secrets of a backup store are removed', { store })
      this.#tell(undefined)
    } catch (error) {
      // The status still tells of it, so it is asked for again when the agent starts.
      log.warn('the settings and secrets of a backup store cannot be removed', { store, error: String(error) })
    }
  }

  #tell(name: string | undefined): void {
    this.#name = name
    this.#context.publisher.publish({ backupStore: name })
  }
}
