// What the two sides believe may be replaced while requests run: it is taken afresh once, and no write is sent twice for that.

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { makeAuthority, makePair } from '../../../test/bed/certificates.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { SystemClock } from '../../adapters/clock/system-clock.ts'
import { nodes } from '../../api/kube.ts'
import type { KubeCredential, Renewable } from '../../ports/kube-connection.ts'
import { HttpKubeApi } from './http-kube-api.ts'

const { signal } = new AbortController()
const authority = makeAuthority('now')
const formerly = makeAuthority('formerly')
const pair = makePair(authority, { name: 'someone' })
const otherPair = makePair(authority, { name: 'someone' })
const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

/** Each reading gives the next value, the last one for ever. */
function readings<T>(...values: readonly T[]): Renewable<T> & { readonly count: number } {
  const [first] = values
  if (first === undefined) throw new RangeError('nothing to read')
  let at = 0
  return {
    get count() {
      return at + 1
    },
    current: async () => values[Math.min(at, values.length - 1)] ?? first,
    refused: () => {
      at += 1
    },
  }
}

/** A server of the present authority that accepts who shows this certificate. */
async function clientOf(trusted: Renewable<string>, credentials: Renewable<KubeCredential>, accepted = pair) {
  const served: string[] = []
  const shown = makePair(authority, { name: 'server', ips: ['127.0.0.1'] })
  const tls = { cert: shown.certificate, key: shown.key, requestCert: true, rejectUnauthorized: false }
  const [, body = ''] = /-\n(.*)\n-/s.exec(accepted.certificate) ?? []
  const server = createServer(tls, (request, response) => {
    const peer = request.socket instanceof TLSSocket ? request.socket.getPeerCertificate() : undefined
    const isKnown = peer?.raw.equals(Buffer.from(body, 'base64')) === true
    served.push(`${request.method} ${isKnown ? 200 : 401}`)
    response.writeHead(isKnown ? 200 : 401).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const api = new HttpKubeApi({
    connection: { server: `https://127.0.0.1:${port}`, authority: trusted, credentials },
    clock: new SystemClock(),
    random: fixedRandom(0),
    userAgent: 'slipway/test',
  })
  cleanUps.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => api.close(),
  )
  return { served, patched: () => api.patch(nodes, { name: 'n' }, { type: 'merge', body: {} }, signal), api }
}

describe('trust that is renewed', () => {
  test.each([
    {
      what: 'another authority',
      trusted: [formerly.certificate, authority.certificate],
      shown: [pair],
      served: ['PATCH 200'],
    },
    {
      what: 'another client certificate',
      trusted: [authority.certificate],
      shown: [otherPair, pair],
      served: ['PATCH 401', 'PATCH 200'],
    },
    {
      what: 'both',
      trusted: [formerly.certificate, authority.certificate],
      shown: [otherPair, pair],
      served: ['PATCH 401', 'PATCH 200'],
    },
    {
      what: 'a certificate that was read with the key of the one before',
      trusted: [authority.certificate],
      shown: [{ ...pair, key: otherPair.key }, pair],
      served: ['PATCH 200'],
    },
  ])('$what: the same write goes on', async ({ trusted, shown, served: expected }) => {
    const credentials = readings(...shown.map((certificate) => ({ certificate })))
    const { patched, served } = await clientOf(readings(...trusted), credentials)
    await patched()
    expect(served).toEqual(expected)
  })

  test('nothing has been renewed: it is asked for once more, then the failure says what to do', async () => {
    const trusted = readings(formerly.certificate)
    const { patched, served, api } = await clientOf(trusted, readings({ certificate: pair }))
    const failure = { code: 'Unreachable', nextStep: expect.stringContaining('certificate-authority') }
    await expect(patched()).rejects.toMatchObject(failure)
    expect(trusted.count).toBe(2)
    await expect(api.watch(nodes, {}, () => {}, signal)).rejects.toMatchObject(failure)
    expect(trusted.count).toBe(3)
    expect(served).toEqual([])
  })

  test('a certificate that has ended is named; another refusal is left as the server put it', async () => {
    const ended = makePair(authority, { name: 'someone', lifeMs: -60_000 })
    const past = await clientOf(readings(authority.certificate), readings({ certificate: ended }))
    await expect(past.patched()).rejects.toMatchObject({
      code: 'Unauthorized',
      status: 401,
      message: expect.stringContaining('the client certificate ended at 2'),
      nextStep: expect.stringContaining('renew the client certificate'),
    })
    const stranger = await clientOf(readings(authority.certificate), readings({ certificate: otherPair }))
    await expect(stranger.patched()).rejects.toMatchObject({ code: 'Unauthorized', nextStep: undefined })
  })
})
