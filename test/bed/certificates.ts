// X.509 certificates for the test control plane: just the shape Kubernetes asks for, so that no openssl is needed.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Pair {
  /** PEM */
  readonly certificate: string
  readonly key: string
}

export interface Authority extends Pair {
  readonly name: string
}

export interface Subject {
  readonly name: string
  readonly group?: string
  readonly dns?: readonly string[]
  readonly ips?: readonly string[]
  /** A year unless told. */
  readonly lifeMs?: number
}

const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
}

export function makeAuthority(name: string): Authority {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const extensions = [
    extension(oids.basicConstraints, true, sequence(tlv(0x01, Buffer.from([0xff])))),
    // keyCertSign and cRLSign
    extension(oids.keyUsage, true, tlv(0x03, Buffer.from([0x01, 0x06]))),
  ]
  return { name, ...issue({ name }, privateKey, { name, key: privateKey }, extensions) }
}

export function makePair(authority: Authority, subject: Subject): Pair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = [
    ...(subject.dns ?? []).map((dns) => tlv(0x82, Buffer.from(dns))),
    ...(subject.ips ?? []).map((ip) => tlv(0x87, Buffer.from(ip.split('.').map(Number)))),
  ]
  const extensions = [
    // digitalSignature
    extension(oids.keyUsage, true, tlv(0x03, Buffer.from([0x07, 0x80]))),
    extension(oids.extendedKeyUsage, false, sequence(oid(oids.serverAuth), oid(oids.clientAuth))),
    ...(names.length === 0 ? [] : [extension(oids.alternativeNames, false, sequence(...names))]),
  ]
  return issue(subject, privateKey, { name: authority.name, key: createPrivateKey(authority.key) }, extensions)
}

/** The key pair that signs service account tokens. */
export function makeSigningKey(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
}

function issue(
  subject: Subject,
  key: KeyObject,
  issuer: { readonly name: string; readonly key: KeyObject },
  extensions: readonly Buffer[],
): Pair {
  const algorithm = sequence(oid(oids.ecdsaWithSha256))
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer),
    sequence(instant(-3_600_000), instant(subject.lifeMs ?? 365 * 86_400_000)),
    distinguishedName(subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', body, issuer.key)
  const certificate = sequence(body, algorithm, tlv(0x03, Buffer.from([0]), signature))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function distinguishedName({ name, group }: Pick<Subject, 'name' | 'group'>): Buffer {
  const attribute = (id: string, value: string) => tlv(0x31, sequence(oid(id), tlv(0x0c, Buffer.from(value))))
  return sequence(
    ...(group === undefined ? [] : [attribute(oids.organization, group)]),
    attribute(oids.commonName, name),
  )
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value))
}

function instant(fromNowMs: number): Buffer {
  const digits = new Date(Date.now() + fromNowMs).toISOString().replace(/[-:T]|\.\d+/g, '')
  return tlv(0x17, Buffer.from(digits.slice(2)))
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const septets = [arc & 0x7f]
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80)
    bytes.push(...septets)
  }
  return tlv(0x06, Buffer.from(bytes))
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes)
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, ...parts)
}

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
