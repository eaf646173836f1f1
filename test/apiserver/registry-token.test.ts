// A real registry that takes nothing but tokens, and the server it sends people to for one.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HttpRegistry } from '../../src/adapters/oci/registry.ts'
import { makeAuthority, makePair } from '../bed/certificates.ts'
import { freePorts } from '../bed/child-program.ts'
import { FilledRegistry, password, repository, username } from '../bed/filled-registry.ts'
import { startOciRegistry, whyNoOciRegistry } from '../bed/oci-registry.ts'
import { startTokenServer } from '../bed/token-server.ts'

const missing = await whyNoOciRegistry()
const { signal } = new AbortController()
const issuer = 'bed'

describe.skipIf(missing)('a registry that wants a token', () => {
  const registry = new HttpRegistry()
  const access = { plain: true, username, password }
  const authority = makeAuthority('tokens')
  let filled: FilledRegistry
  let digest: string

  const serve = async (lastsSeconds: number, signedBy = authority) => {
    const signer = makePair(signedBy, { name: 'token-signer' })
    const tokens = await startTokenServer({ signer, issuer, username, password, lastsSeconds })
    const [port = 0] = await freePorts(1)
    const folder = mkdtempSync(join(tmpdir(), 'slipway-token-'))
    const token = { realm: tokens.realm, service: 'registry', issuer, authority: authority.certificate }
    const running = await startOciRegistry({ folder, content: filled.content, port, token })
    stops.push(async () => {
      tokens.stop()
      await running.stop('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    })
    return { tokens, image: `127.0.0.1:${port}/${repository}:1.2` }
  }
  const stops: (() => Promise<void>)[] = []

  beforeAll(async () => {
    filled = await FilledRegistry.start()
    digest = await filled.push('1.2', 'amd64')
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
    await filled?.stop()
  })

  test('gets one for the one thing that is asked', async () => {
    const { tokens, image } = await serve(300)
    expect((await registry.look(image, access, signal)).digest).toBe(digest)
    expect(new Set(tokens.asked)).toEqual(new Set([`repository:${repository}:pull`]))
  })

  test.each([
    ['no password', { plain: true }, 300, authority, 'wants credentials'],
    ['a wrong password', { ...access, password: 'wrong' }, 300, authority, 'does not take the credentials'],
    ['a token that is over', access, -600, authority, 'does not take the credentials'],
    ['a token of somebody else', access, 300, makeAuthority('others'), 'does not take the credentials'],
  ])('and is not read with %s', async (_, shown, lasts, signedBy, says) => {
    const { image } = await serve(lasts, signedBy)
    const asked = registry.look(image, shown, signal)
    await expect(asked).rejects.toMatchObject({ code: 'RegistryRefused', message: expect.stringContaining(says) })
  })
})
