// A service account of Google: its key signs who it is, the token server answers with a token for an hour. A backup may take no longer.

import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { rootCertificates } from 'node:tls'
import { z } from 'zod'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { BucketTools } from '../s3/bucket-client.ts'

const keySchema = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }),
})
const answerSchema = z.object({ access_token: z.string().min(1) })
const refusalSchema = z.object({ error: z.string(), error_description: z.string().default('') })

const scope = 'https://www.googleapis.com/auth/devstorage.read_write'
const lifeSeconds = 3600
const defaultAttempts = 3
const againMs = 2_000
const maxAnswerBytes = 65_536

/** `key`: the JSON as Google gives it. Throws StoreRefused or, after the last try, StoreUnreachable. */
export async function serviceAccountToken(
  store: string,
  key: string,
  ca: string | undefined,
  tools: BucketTools,
  signal: AbortSignal,
): Promise<string> {
  const account = accountOf(store, key)
  const { attempts = defaultAttempts } = tools
  for (let attempt = 1; ; attempt++) {
    try {
      return await exchange(account, ca, tools, signal)
    } catch (error) {
      signal.throwIfAborted()
      const isPassing = error instanceof SlipwayError && error.code === 'StoreUnreachable'
      if (!isPassing || attempt >= attempts) throw error
      await delay(againMs, undefined, { signal })
    }
  }
}

type Account = Omit<z.infer<typeof keySchema>, 'private_key'> & { readonly key: KeyObject }

/** Nothing of it is quoted: it is secret. */
function accountOf(store: string, text: string): Account {
  try {
    const { private_key: pem, ...rest } = keySchema.parse(JSON.parse(text))
    return { ...rest, key: createPrivateKey(pem) }
  } catch {
    const message = `serviceAccountKey in the Secret of the backup store ${store} is no key of a service account`
    throw new SlipwayError('StoreRefused', message, {
      nextStep: 'put the JSON into it that Google gave, with client_email, private_key and token_uri',
    })
  }
}

async function exchange(
  account: Account,
  ca: string | undefined,
  tools: BucketTools,
  signal: AbortSignal,
): Promise<string> {
  const { client_email: who, token_uri: where } = account
  const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertionOf(account, tools) }
  const { status, body } = await post(new URL(where), new URLSearchParams(grant).toString(), ca, tools, signal)
  const answer = answerSchema.safeParse(jsonOf(body))
  if (status === 200 && answer.success) return answer.data.access_token
  const refusal = refusalSchema.safeParse(jsonOf(body)).data
  const said = refusal ? `${refusal.error} ${refusal.error_description}`.trim() : `an answer with status ${status}`
  throw new SlipwayError(
    status === 429 || status >= 500 ? 'StoreUnreachable' : 'StoreRefused',
    `${where} gives no token to ${who}: ${said}`,
    { nextStep: 'look at the service account, its key, and the clock of the host' },
  )
}

function assertionOf({ client_email, private_key_id, token_uri, key }: Account, { clock }: BucketTools): string {
  const issuedAt = Math.floor(clock.now().getTime() / 1000)
  const head = { alg: 'RS256', typ: 'JWT', ...(private_key_id !== undefined && { kid: private_key_id }) }
  const claim = { iss: client_email, scope, aud: token_uri, iat: issuedAt, exp: issuedAt + lifeSeconds }
  const signed = [head, claim].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

function post(
  url: URL,
  body: string,
  ca: string | undefined,
  { proxyEnv, silenceMs = 60_000 }: BucketTools,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  const isSecure = url.protocol === 'https:'
  const options = proxyEnv ? { proxyEnv: { ...proxyEnv } } : {}
  const agent = isSecure
    ? new SecureAgent({ ...options, ...(ca !== undefined && { ca: [...rootCertificates, ca] }) })
    : new PlainAgent(options)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) }
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const send = isSecure ? secureRequest : plainRequest
    const sent = send(url, { method: 'POST', agent, headers, signal, timeout: silenceMs }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => {
        text += piece
        if (text.length > maxAnswerBytes) answer.destroy(new Error('the answer has no end'))
      })
      answer.once('error', reject)
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: text }))
    })
    sent.once('timeout', () => sent.destroy(new Error(`silent for ${silenceMs} ms`)))
    sent.once('error', reject)
    sent.end(body)
  })
    .catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      throw new SlipwayError('StoreUnreachable', `${url.origin} cannot be asked for a token: ${why}`, { cause: error })
    })
    .finally(() => agent.destroy())
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
