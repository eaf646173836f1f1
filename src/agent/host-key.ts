// The key of this host: made here, kept here. Only its public half is published.

import type { SealedText } from '../api/desired-state.ts'
import { hostKeySchema } from '../api/journal.ts'
import { sealingContext } from '../core/profile/sealing-context.ts'
import type { Disk } from '../ports/disk.ts'
import type { KeyPair, Sealing } from '../ports/sealing.ts'
import { readSealed, seal, writeAtomically } from './journal/sealed-file.ts'

const file = 'host-key'

/** Made on first use; the state folder must be there. */
export async function hostKeys(disk: Disk, stateDir: string, sealing: Sealing): Promise<KeyPair> {
  const known = await readSealed(disk, `${stateDir}/${file}`, hostKeySchema)
  if (known) return known
  const keys = sealing.newKeys()
  await disk.makeFolder(stateDir)
  await writeAtomically(disk, stateDir, file, seal(keys), 0o600)
  return keys
}

export async function openSealed(disk: Disk, stateDir: string, sealing: Sealing, sealed: SealedText): Promise<string> {
  const { privateKey } = await hostKeys(disk, stateDir, sealing)
  return sealing.open(sealed.text, privateKey, sealingContext(sealed))
}
