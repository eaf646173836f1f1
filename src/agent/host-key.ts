// The key of this host: made here, kept here. Only its public half is published.

import { hostKeySchema } from '../api/journal.ts'
import type { SealedText } from '../api/sealed-text.ts'
import { sealingContext } from '../core/profile/sealing-context.ts'
import type { Disk } from '../ports/disk.ts'
import type { KeyPair, Sealing } from '../ports/sealing.ts'
import { readSealed, seal, writeAtomically } from './journal/sealed-file.ts'
import type { SideTask } from './side-task.ts'

export const hostKeyFile = 'host-key'

export class HostKey {
  readonly #disk: Disk
  readonly #stateDir: string
  readonly #sealing: Sealing
  /** One answer for all who ask at once: two keys would be one too many. */
  #keys: Promise<KeyPair> | undefined

  constructor(disk: Disk, stateDir: string, sealing: Sealing) {
    this.#disk = disk
    this.#stateDir = stateDir
    this.#sealing = sealing
  }

  /** Says the public half in the status. */
  get task(): SideTask {
    return {
      name: 'host-key',
      run: async ({ publisher }) => {
        const { publicKey } = await this.#load()
        publisher.publish({ publicKey })
      },
    }
  }

  /** Throws SecretUnreadable where it was not sealed to this host. */
  async open(sealed: SealedText): Promise<string> {
    const { privateKey } = await this.#load()
    return this.#sealing.open(sealed.text, privateKey, sealingContext(sealed))
  }

  #load(): Promise<KeyPair> {
    this.#keys ??= this.#findOrMake().catch((error: unknown) => {
      this.#keys = undefined
      throw error
    })
    return this.#keys
  }

  async #findOrMake(): Promise<KeyPair> {
    const known = await readSealed(this.#disk, `${this.#stateDir}/${hostKeyFile}`, hostKeySchema)
    if (known) return known
    const keys = this.#sealing.newKeys()
    await this.#disk.makeFolder(this.#stateDir)
    await writeAtomically(this.#disk, this.#stateDir, hostKeyFile, seal(keys), 0o600)
    return keys
  }
}
