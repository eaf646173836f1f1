// Keys that sign package repositories: one the machines trust, and a stranger's.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { needHostPackages } from './host-packages.ts'
import { runProgram } from './run-program.ts'

export type Signer = 'trusted' | 'stranger'

export interface SigningKey {
  /** The public key as repositories publish it. */
  readonly armoredPath: string
  /** The public key as apt's `signed-by` takes it. */
  readonly keyringPath: string
  readonly secretPath: string
}

export async function signingKey(signer: Signer): Promise<SigningKey> {
  const folder = await cachedFolder(`signing-key-1-${signer}`, async (fresh) => {
    await needHostPackages()
    await withKeyring(async (gpg) => {
      const name = `Slipway bed ${signer} <${signer}@slipway.test>`
      await gpg('--passphrase', '', '--quick-generate-key', name, 'ed25519', 'sign', '0')
      await gpg('--armor', '--output', join(fresh, 'Release.key'), '--export')
      await gpg('--output', join(fresh, 'keyring.gpg'), '--export')
      await gpg('--passphrase', '', '--output', join(fresh, 'secret.gpg'), '--export-secret-keys')
    })
  })
  return {
    armoredPath: join(folder, 'Release.key'),
    keyringPath: join(folder, 'keyring.gpg'),
    secretPath: join(folder, 'secret.gpg'),
  }
}

/** Writes InRelease, Release.gpg and the public key beside the repository's Release file. */
export async function signRelease(folder: string, signer: Signer): Promise<void> {
  const key = await signingKey(signer)
  const release = join(folder, 'Release')
  await withKeyring(async (gpg) => {
    await gpg('--import', key.secretPath)
    await gpg('--clearsign', '--output', join(folder, 'InRelease'), release)
    await gpg('--armor', '--detach-sign', '--output', join(folder, 'Release.gpg'), release)
  })
  await copyFile(key.armoredPath, join(folder, 'Release.key'))
}

/** A keyring for a moment: its agent ends with it. */
async function withKeyring(work: (gpg: (...args: string[]) => Promise<string>) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'slipway-gpg-'))
  try {
    // The agent must lie in this folder alone, wherever the user's own sockets are.
    await writeFile(join(home, 'gpg.conf'), 'batch\nyes\nquiet\npinentry-mode loopback\n')
    await work((...args) => runProgram('gpg', ['--homedir', home, ...args]))
  } finally {
    await runProgram('gpgconf', ['--homedir', home, '--kill', 'gpg-agent'])
    await rm(home, { recursive: true, force: true, maxRetries: 3 })
  }
}
