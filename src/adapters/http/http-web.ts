import { createHmac } from 'node:crypto'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { rootCertificates } from 'node:tls'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Web, WebAnswer, WebRequest } from '../../ports/web.ts'

const maxBytes = 1_048_576

export const httpWeb: Web = {
  async request(request, signal) {
    // An address may be a secret, and what is thrown about one that is none repeats it.
    if (!URL.canParse(request.url)) throw new SlipwayError('CannotReach', 'the address is no valid URL')
    try {
      return await send(request, signal)
    } catch (error) {
      throw signal.aborted ? signal.reason : unreachable(request, error)
    }
  },
}

function send(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
  return new Promise((resolve, reject) => {
    const { method, url, headers, body, ca, timeoutMs } = request
    const options = {
      method,
      headers: { 'user-agent': 'slipway', accept: '*/*', ...headers, ...signatureOf(request) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    }
    const open = url.startsWith('https:') ? secureRequest : plainRequest
    const sent = open(url, options, (answer) => {
      const chunks: Buffer[] = []
      let bytes = 0
      const done = () => {
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
      }
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        chunks.push(chunk)
        if (bytes < maxBytes) return
        answer.destroy()
        done()
      })
      answer.once('end', done)
      answer.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

function signatureOf({ signing, body = '' }: WebRequest): Readonly<Record<string, string>> {
  if (!signing) return {}
  const seconds = Math.floor(signing.at.getTime() / 1000)
  const sum = createHmac('sha256', signing.secret).update(`${seconds}.${body}`).digest('hex')
  return { 'slipway-signature': `t=${seconds},v1=${sum}` }
}

function unreachable({ url, timeoutMs }: WebRequest, error: unknown): SlipwayError {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const late = name === 'TimeoutError' || name === 'AbortError'
  const what = late ? `gave no whole answer within ${Math.round(timeoutMs / 1000)} s` : `cannot be asked: ${message}`
  return new SlipwayError('CannotReach', `${withoutSecrets(url)} ${what}`, { cause: error })
}

/** An address may carry a password. */
function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
