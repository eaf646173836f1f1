import { createHash } from 'node:crypto'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { BackupCipher, BackupCodec, BackupSums } from '../../ports/backup-codec.ts'
import { aesKeyOf, openAes, sealAes } from './encryption/aes-file.ts'
import { openAge, sealAge } from './encryption/age-file.ts'
import { ageKeyOf } from './encryption/age-stanza.ts'
import { WrongKey } from './encryption/wrong-key.ts'
import { compressed, decompressed } from './zstd.ts'

type Bytes = AsyncIterable<Uint8Array>

export const backupCodec: BackupCodec = {
  encode,
  decode,
  canDecode: ({ method, key }) => method === 'Aes256Gcm' || !isRecipient(key),
}

/** Nothing is begun, and nothing thrown, before the first piece is asked for. */
async function* encode(snapshot: Bytes, cipher: BackupCipher | undefined): AsyncGenerator<Uint8Array> {
  yield* cipher ? encrypted(compressed(snapshot), cipher) : compressed(snapshot)
}

function encrypted(content: Bytes, { method, key }: BackupCipher): Bytes {
  return method === 'Age' ? sealAge(content, ageKey(key)) : sealAes(content, aesKey(key))
}

function decrypted(content: Bytes, { method, key }: BackupCipher): Bytes {
  return method === 'Age' ? openAge(content, ageKey(key)) : openAes(content, aesKey(key))
}

async function* decode(stored: Bytes, sums: BackupSums, key: string | undefined): AsyncGenerator<Uint8Array> {
  const { encryption: method, name } = sums
  if (method !== undefined && key === undefined) {
    throw new SlipwayError('BackupKeyWrong', `the backup ${name} is encrypted (${method}), and no key is given`, {
      nextStep: 'give the key it was made with',
    })
  }
  const whole = new Summed(stored)
  const content = method !== undefined && key !== undefined ? decrypted(whole, { method, key }) : whole
  const snapshot = new Summed(decompressed(content))
  try {
    yield* snapshot
  } catch (error) {
    throw await judged(error, whole, sums)
  }
  if (!whole.is(sums.sha256, sums.bytes)) throw damaged(name, 'it is not what its manifest says')
  if (!snapshot.is(sums.snapshotSha256, sums.snapshotBytes)) {
    throw damaged(name, 'the snapshot in it is not the one its manifest tells of')
  }
}

/** Why it could not be read: whether the bytes are those that were stored decides, so the rest of them is looked at too. */
async function judged(error: unknown, whole: Summed, { name, sha256, bytes }: BackupSums): Promise<unknown> {
  // What the store itself suffers from is its own word.
  if (error instanceof SlipwayError) return error
  await whole.drain()
  const what = error instanceof Error ? error.message : String(error)
  if (!whole.is(sha256, bytes)) return damaged(name, `it is not what was stored: ${what}`, error)
  if (!(error instanceof WrongKey)) return damaged(name, what, error)
  return new SlipwayError('BackupKeyWrong', `the backup ${name} is whole, but the key does not open it: ${what}`, {
    nextStep: 'give the key it was made with',
    cause: error,
  })
}

function damaged(name: string, what: string, cause?: unknown): SlipwayError {
  return new SlipwayError('BackupDamaged', `the backup ${name} is damaged: ${what}`, {
    nextStep: 'use another backup, and look at the store',
    cause,
  })
}

function isRecipient(text: string): boolean {
  const key = ageKeyOf(text)
  return 'kind' in key && key.kind === 'recipient'
}

function ageKey(text: string) {
  const key = ageKeyOf(text)
  if (!('wrong' in key)) return key
  throw new SlipwayError('BackupKeyWrong', `the key of the backups is no key of age: ${key.wrong}`, {
    nextStep: 'give one identity as age-keygen writes it, one recipient, or a passphrase of one line',
  })
}

function aesKey(text: string): Buffer {
  const key = aesKeyOf(text)
  if (key) return key
  throw new SlipwayError('BackupKeyWrong', 'the key of the backups is not 32 bytes in base64', {
    nextStep: 'make one with: openssl rand -base64 32',
  })
}

/** Passes bytes on and keeps their sum. */
class Summed {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha256')
  #bytes = 0
  #isOver = false

  constructor(content: Bytes) {
    this.#pieces = content[Symbol.asyncIterator]()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { done, value } = await this.#pieces.next()
      if (done) {
        this.#isOver = true
        return
      }
      this.#hash.update(value)
      this.#bytes += value.length
      yield value
    }
  }

  async drain(): Promise<void> {
    if (this.#isOver) return
    for await (const _ of this);
  }

  is(sha256: string, bytes: number): boolean {
    return this.#bytes === bytes && this.#hash.copy().digest('hex') === sha256
  }
}
