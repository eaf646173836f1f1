import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { agePrograms } from '../../../test/bed/age.ts'
import { serverOrReason } from '../../../test/bed/optional-server.ts'
import type { BackupCipher, BackupSums } from '../../ports/backup-codec.ts'
import { SeededRandom } from '../../sim/seeded-random.ts'
import { backupCodec } from './backup-codec.ts'
import { bech32Of, bytesOfBech32 } from './encryption/bech32.ts'
import { publicOf } from './encryption/x25519-keys.ts'

const secret = randomBytes(32)
const identity = bech32Of(secret, 'age-secret-key-').toUpperCase()
const recipient = bech32Of(publicOf(secret), 'age')
const stranger = bech32Of(randomBytes(32), 'age-secret-key-').toUpperCase()
const aesKey = randomBytes(32).toString('base64')
const ciphers: readonly (BackupCipher | undefined)[] = [
  undefined,
  { method: 'Age', key: identity },
  { method: 'Age', key: 'correct horse battery staple' },
  { method: 'Aes256Gcm', key: aesKey },
]
const named = ciphers.map((cipher) => ({
  name: cipher ? `${cipher.method} ${cipher.key.slice(0, 7)}` : 'plain',
  cipher,
}))
const folder = mkdtempSync(join(tmpdir(), 'slipway-codec-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function* pieces(content: Uint8Array, sizes: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; ) {
    const piece = content.subarray(at, at + Math.max(1, sizes()))
    at += piece.length
    yield piece
  }
}
async function gathered(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = []
  for await (const piece of content) found.push(Buffer.from(piece))
  return Buffer.concat(found)
}
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
const sumsOf = (snapshot: Uint8Array, stored: Uint8Array, cipher?: BackupCipher): BackupSums => ({
  name: 'b1',
  sha256: sha256(stored),
  bytes: stored.length,
  snapshotSha256: sha256(snapshot),
  snapshotBytes: snapshot.length,
  ...(cipher && { encryption: cipher.method }),
})
const encode = (snapshot: Uint8Array, cipher?: BackupCipher) =>
  gathered(
    backupCodec.encode(
      pieces(snapshot, () => 32_768),
      cipher,
    ),
  )
const decode = (stored: Uint8Array, sums: BackupSums, key?: string) =>
  gathered(
    backupCodec.decode(
      pieces(stored, () => 50_000),
      sums,
      key,
    ),
  )

const programs = await serverOrReason('AGE', agePrograms)

describe.each(named)('a snapshot stored: $name', ({ cipher }) => {
  it('comes back as it was, whatever its size and wherever the stream is cut', async () => {
    const random = new SeededRandom(7)
    for (const bytes of [0, 1, 65_535, 65_536, 65_537, 131_072, 1_000_000]) {
      // Half of it cannot be compressed, so that sizes around a piece are met in the stored form too.
      const snapshot = Buffer.concat([randomBytes(bytes - (bytes >> 1)), Buffer.alloc(bytes >> 1, 'a')])
      const sizes = () => 1 + Math.floor(random.next() * 100_000)
      const stored = await gathered(backupCodec.encode(pieces(snapshot, sizes), cipher))
      const back = await gathered(
        backupCodec.decode(pieces(stored, sizes), sumsOf(snapshot, stored, cipher), cipher?.key),
      )
      expect(back.equals(snapshot), `${bytes} bytes`).toBe(true)
    }
  })

  it('is known as damaged wherever a bit of it changed, something is missing or more is there', async () => {
    const snapshot = randomBytes(300_000)
    const stored = await encode(snapshot, cipher)
    const sums = sumsOf(snapshot, stored, cipher)
    const places = [3, 40, 100, 150, 70_000, 200_000, stored.length - 1]
    const flipped = places.map((place) => {
      const copy = Buffer.from(stored)
      copy.writeUInt8((copy[place] ?? 0) ^ 1, place)
      return copy
    })
    const others = [
      stored.subarray(0, -1),
      stored.subarray(0, 65_536),
      stored.subarray(0, 10),
      Buffer.concat([stored, Buffer.from('x')]),
      Buffer.concat([stored.subarray(0, 1000), stored.subarray(66_552, 132_104), stored.subarray(1000)]),
    ]
    for (const altered of [...flipped, ...others]) {
      await expect(decode(altered, sums, cipher?.key)).rejects.toMatchObject({ code: 'BackupDamaged' })
    }
  })
})

describe('a wrong key', () => {
  it.each([
    { cipher: { method: 'Age', key: identity }, wrong: stranger },
    { cipher: { method: 'Age', key: 'correct horse' }, wrong: 'battery staple' },
    { cipher: { method: 'Age', key: identity }, wrong: recipient },
    { cipher: { method: 'Aes256Gcm', key: aesKey }, wrong: randomBytes(32).toString('base64') },
  ] as const)('is told from damage: $cipher.method', async ({ cipher, wrong }) => {
    const snapshot = randomBytes(200_000)
    const stored = await encode(snapshot, cipher)
    const sums = sumsOf(snapshot, stored, cipher)
    await expect(decode(stored, sums, wrong)).rejects.toMatchObject({ code: 'BackupKeyWrong' })
    await expect(decode(stored, sums)).rejects.toMatchObject({ code: 'BackupKeyWrong' })
    const altered = Buffer.from(stored)
    altered.writeUInt8((altered[150_000] ?? 0) ^ 1, 150_000)
    await expect(decode(altered, sums, wrong)).rejects.toMatchObject({ code: 'BackupDamaged' })
  })

  it.each([
    { method: 'Age', key: `${identity}Q` },
    { method: 'Age', key: recipient.slice(0, -1) },
    { method: 'Age', key: ' \n' },
    { method: 'Age', key: '# only a comment\n' },
    { method: 'Age', key: `${identity}\n${stranger}\n` },
    { method: 'Age', key: 'correct horse\nbattery staple' },
    { method: 'Aes256Gcm', key: 'aGVsbG8=' },
    { method: 'Aes256Gcm', key: 'a passphrase' },
  ] as const)('that is none of its kind is refused before anything is stored: $method $key', async (cipher) => {
    await expect(encode(randomBytes(10), cipher)).rejects.toMatchObject({ code: 'BackupKeyWrong' })
  })
})

it.each([
  ['an identity', `# created: 2026-01-05T08:00:00Z\n# public key: ${recipient}\n${identity}\n`, identity],
  ['an identity with the line ends of Windows', `# public key: ${recipient}\r\n\r\n${identity}\r\n`, identity],
  ['a passphrase', '# of the vault\n\ncorrect horse\n', 'correct horse'],
])('%s in a file with comments is that key and no passphrase', async (_, file, bare) => {
  const snapshot = randomBytes(1000)
  const stored = await encode(snapshot, { method: 'Age', key: file })
  const sums = sumsOf(snapshot, stored, { method: 'Age', key: '' })
  for (const key of [bare, file]) expect((await decode(stored, sums, key)).equals(snapshot)).toBe(true)
})

it('a recipient in a file with comments cannot open either', () => {
  expect(backupCodec.canDecode({ method: 'Age', key: `# to all\n${recipient}\n` })).toBe(false)
})

it('a recipient closes and cannot open', async () => {
  expect(backupCodec.canDecode({ method: 'Age', key: recipient })).toBe(false)
  expect(backupCodec.canDecode({ method: 'Age', key: identity })).toBe(true)
  const snapshot = randomBytes(1000)
  const stored = await encode(snapshot, { method: 'Age', key: recipient })
  expect((await decode(stored, sumsOf(snapshot, stored, { method: 'Age', key: '' }), identity)).equals(snapshot)).toBe(
    true,
  )
})

it('a source that fails fails what reads it, and is let go by who stops', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield randomBytes(1_000_000)
    throw new Error('etcd went away')
  }
  await expect(gathered(backupCodec.encode(failing(), undefined))).rejects.toThrow('etcd went away')
  let isLetGo = false
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield randomBytes(1_000_000)
    } finally {
      isLetGo = true
    }
  }
  let seen = 0
  for await (const _ of backupCodec.encode(endless(), { method: 'Age', key: identity })) if (++seen === 5) break
  await expect.poll(() => isLetGo).toBe(true)
})

it('bech32 refuses a changed letter and mixed case', () => {
  expect(bytesOfBech32(identity, 'age-secret-key-')?.equals(secret)).toBe(true)
  expect(
    bytesOfBech32(
      identity.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q')),
      'age-secret-key-',
    ),
  ).toBeUndefined()
  expect(bytesOfBech32(`${identity.slice(0, -1)}q`, 'age-secret-key-')).toBeUndefined()
})

describe.skipIf(typeof programs === 'string')('the program age', () => {
  const { age, keygen } = typeof programs === 'string' ? { age: '', keygen: '' } : programs
  const snapshot = Buffer.concat([randomBytes(200_000), Buffer.alloc(100_000)])
  const keyFile = join(folder, 'key')

  it('opens what we close', async () => {
    writeFileSync(keyFile, `${identity}\n`)
    writeFileSync(join(folder, 'ours.age'), await encode(snapshot, { method: 'Age', key: recipient }))
    execFileSync(age, ['-d', '-i', keyFile, '-o', join(folder, 'ours'), join(folder, 'ours.age')])
    expect(zstdDecompressSync(readFileSync(join(folder, 'ours'))).equals(snapshot)).toBe(true)
  })

  it('knows our keys as its own', () => {
    writeFileSync(keyFile, `${identity}\n`)
    expect(execFileSync(keygen, ['-y', keyFile], { encoding: 'utf8' }).trim()).toBe(recipient)
  })

  it('writes a file of keys that we take as it is, and opens what we closed by it', async () => {
    const written = join(folder, 'keygen.txt')
    execFileSync(keygen, ['-o', written], { stdio: 'ignore' })
    const key = readFileSync(written, 'utf8')
    expect(key).toContain('# public key:')
    const stored = await encode(snapshot, { method: 'Age', key })
    writeFileSync(join(folder, 'by-file.age'), stored)
    execFileSync(age, ['-d', '-i', written, '-o', join(folder, 'by-file'), join(folder, 'by-file.age')])
    expect(zstdDecompressSync(readFileSync(join(folder, 'by-file'))).equals(snapshot)).toBe(true)
    expect((await decode(stored, sumsOf(snapshot, stored, { method: 'Age', key }), key)).equals(snapshot)).toBe(true)
  })

  it('closes what we open', async () => {
    const plain = await encode(snapshot)
    writeFileSync(join(folder, 'plain'), plain)
    execFileSync(age, ['-r', recipient, '-o', join(folder, 'theirs.age'), join(folder, 'plain')])
    const stored = readFileSync(join(folder, 'theirs.age'))
    const sums = sumsOf(snapshot, stored, { method: 'Age', key: identity })
    expect((await decode(stored, sums, identity)).equals(snapshot)).toBe(true)
  })
})
