// Signature Version 4 for S3: the one way to sign that S3, its many look-alikes and the XML API of GCS share.

import { createHash, createHmac } from 'node:crypto'

export interface SigningKeys {
  readonly accessKeyID: string
  readonly secretAccessKey: string
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined
}

export interface ToSign {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** SHA-256 of the body, in hexadecimal. */
  readonly bodySum: string
}

export interface Signing {
  readonly keys: SigningKeys
  readonly region: string
  readonly now: Date
}

const algorithm = 'AWS4-HMAC-SHA256'

/** All headers of the request, the signature among them. The body's sum is signed too, so the server checks what it received. */
export function signedHeaders(
  { method, url, headers, bodySum }: ToSign,
  { keys, region, now }: Signing,
): Readonly<Record<string, string>> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const all: Readonly<Record<string, string>> = {
    ...headers,
    host: url.host,
    'x-amz-content-sha256': bodySum,
    'x-amz-date': time,
    ...(keys.sessionToken !== undefined && { 'x-amz-security-token': keys.sessionToken }),
  }
  const names = Object.keys(all).sort()
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...names.map((name) => `${name}:${all[name]?.trim()}`),
    '',
    names.join(';'),
    bodySum,
  ].join('\n')
  const text = [algorithm, time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${keys.secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  return {
    ...all,
    authorization: `${algorithm} Credential=${keys.accessKeyID}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}

/** As the standard for signatures wants it: stricter than encodeURIComponent. */
export function encodedPart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${encodedPart(name)}=${encodedPart(value)}`)
    .sort()
    .join('&')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
