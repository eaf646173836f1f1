// Against a token server that checks the signature as Google's does, by the account's public key.

import { createVerify, generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../../../sim/silent-log.ts'
import { SystemClock } from '../../clock/system-clock.ts'
import { FileDisk } from '../../disk/file-disk.ts'
import { LinuxHost } from '../../host/linux-host.ts'
import { SystemRandom } from '../../random/system-random.ts'
import { backupStores } from '../open-stores.ts'
import { serviceAccountToken } from './service-account.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const email = 'backups@project.iam.gserviceaccount.com'
const { signal } = new AbortController()

let server: Server
let origin = ''
let failures = 0
const asked: string[] = []
const bucketRequests: { readonly method: string | undefined; readonly authorization: string | undefined }[] = []

/** What the server thinks of an assertion; undefined = it is good. */
function whyRefused(assertion: string): string | undefined {
  const [head = '', claim = '', signature = ''] = assertion.split('.')
  const isSigned = createVerify('sha256').update(`${head}.${claim}`).verify(publicKey, signature, 'base64url')
  if (!isSigned) return 'Invalid JWT Signature.'
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  if (read(head).alg !== 'RS256' || read(head).kid !== 'k1') return 'Invalid header.'
  const { iss, aud, scope, iat, exp } = read(claim)
  if (iss !== email || aud !== `${origin}/token`) return 'Invalid issuer or audience.'
  if (scope !== 'https://www.googleapis.com/auth/devstorage.read_write') return 'Invalid scope.'
  const now = Date.now() / 1000
  const isInTime = Number(iat) <= now + 5 && Number(exp) > now && Number(exp) - Number(iat) <= 3600
  return isInTime ? undefined : 'Invalid time.'
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => {
      body += piece.toString()
    })
    request.on('end', () => {
      if (request.url !== '/token') {
        bucketRequests.push({ method: request.method, authorization: request.headers.authorization })
        response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
        return
      }
      const form = new URLSearchParams(body)
      asked.push(form.get('grant_type') ?? '')
      if (failures-- > 0) {
        response.writeHead(503).end('busy')
        return
      }
      const why = whyRefused(form.get('assertion') ?? '')
      const answer = why ? { error: 'invalid_grant', error_description: why } : { access_token: 'ya29.token' }
      response.writeHead(why ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  failures = 0
  asked.length = 0
  bucketRequests.length = 0
})

const keyOf = (key = privateKey, part: object = {}) =>
  JSON.stringify({
    ...{ type: 'service_account', client_email: email, private_key_id: 'k1', token_uri: `${origin}/token` },
    private_key: key.export({ type: 'pkcs8', format: 'pem' }),
    ...part,
  })
const tools = { clock: new SystemClock(), random: new SystemRandom(), attempts: 2, silenceMs: 2_000 }
const token = (key: string) => serviceAccountToken('google', key, undefined, tools, signal)

describe('a service account', () => {
  it('gets a token for what its key has signed', async () => {
    expect(await token(keyOf())).toBe('ya29.token')
    expect(asked).toEqual(['urn:ietf:params:oauth:grant-type:jwt-bearer'])
  })

  it('is refused with the words of the server, once, and none of its own', async () => {
    const refused = token(keyOf(stranger))
    await expect(refused).rejects.toMatchObject({
      code: 'StoreRefused',
      message: expect.stringContaining('JWT Signature'),
    })
    await expect(refused).rejects.not.toThrow('PRIVATE KEY')
    expect(asked).toHaveLength(1)
  })

  it('is asked for again while the server is busy or away', async () => {
    failures = 1
    expect(await token(keyOf())).toBe('ya29.token')
    failures = 5
    await expect(token(keyOf())).rejects.toMatchObject({ code: 'StoreUnreachable' })
    const away = keyOf(privateKey, { token_uri: 'http://127.0.0.1:1/token' })
    await expect(token(away)).rejects.toMatchObject({ code: 'StoreUnreachable' })
  })

  it.each(['hello', '{}', '{"client_email":"a","private_key":"never-told","token_uri":"https://x/t"}'])(
    'is none: %s',
    async (key) => {
      await expect(token(key)).rejects.toMatchObject({
        code: 'StoreRefused',
        message: expect.not.stringContaining('never-told'),
      })
    },
  )

  it('opens a store, whose requests carry its token', async () => {
    const host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
    const stores = backupStores({ ...tools, host, root: '', folder: '/nowhere' })
    const place = { name: 'google', gcs: { bucket: 'backups', endpoint: origin, secret: 's' } }
    const store = await stores.open(place, { serviceAccountKey: keyOf() }, signal)
    expect(await store.get('b1', signal)).toBeUndefined()
    await store.close()
    expect(bucketRequests).toEqual([{ method: 'GET', authorization: 'Bearer ya29.token' }])
    await expect(stores.open(place, {}, signal)).rejects.toThrow('serviceAccountKey')
  })
})
