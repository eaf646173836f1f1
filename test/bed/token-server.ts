// The server that a registry sends people to for a token, as Docker's protocol has it: a password for a token of one scope, signed.

import { createPrivateKey, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pair } from './certificates.ts'

export interface TokenServer {
  readonly realm: string
  /** Scopes that were asked for. */
  readonly asked: readonly string[]
  stop(): void
}

export interface TokenServerOptions {
  /** Its certificate is shown with each token. */
  readonly signer: Pair
  readonly issuer: string
  readonly username: string
  readonly password: string
  /** How long a token is good for, in seconds; below zero: it is over when it comes. */
  readonly lastsSeconds: number
}

export async function startTokenServer(options: TokenServerOptions): Promise<TokenServer> {
  const { username, password } = options
  const asked: string[] = []
  const server = createServer((request, answer) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const known = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    if (request.headers.authorization !== known) {
      answer.statusCode = 401
      answer.end()
      return
    }
    const scope = searchParams.get('scope') ?? ''
    asked.push(scope)
    answer.end(JSON.stringify({ token: tokenFor(options, searchParams.get('service') ?? '', scope) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { realm: `http://127.0.0.1:${port}/token`, asked, stop: () => server.close() }
}

function tokenFor({ signer, issuer, username, lastsSeconds }: TokenServerOptions, service: string, scope: string) {
  const [type, name, actions = ''] = scope.split(':')
  const now = Math.floor(Date.now() / 1000)
  const header = { typ: 'JWT', alg: 'ES256', x5c: [signer.certificate.replace(/-----[^-]+-----|\s/g, '')] }
  const claims = {
    ...{ iss: issuer, sub: username, aud: service, jti: String(now), iat: now, nbf: now - 60, exp: now + lastsSeconds },
    access: [{ type, name, actions: actions.split(',') }],
  }
  const coded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const key = { key: createPrivateKey(signer.key), dsaEncoding: 'ieee-p1363' } as const
  return `${coded}.${sign('sha256', Buffer.from(coded), key).toString('base64url')}`
}
