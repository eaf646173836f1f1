// The registry adapter and a real registry: over TLS of its own authority with a password, and as an open mirror of the same content.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HttpRegistry } from '../../src/adapters/oci/registry.ts'
import { newestTag } from '../../src/core/image/tag-pattern.ts'
import type { RegistryAccess } from '../../src/ports/registry.ts'
import { FilledRegistry, password, username } from '../bed/filled-registry.ts'
import { whyNoOciRegistry } from '../bed/oci-registry.ts'

const { signal } = new AbortController()
const registry = new HttpRegistry()
const missing = await whyNoOciRegistry()

describe.skipIf(missing)('a real registry', () => {
  const digests = new Map<string, string>()
  let real: FilledRegistry
  let closed: string
  let reader: RegistryAccess

  beforeAll(async () => {
    real = await FilledRegistry.start()
    closed = real.closed
    reader = { username, password, ca: real.authority }
    for (const tag of ['1.2', '1.9', '2.0', '1.10-amd64']) digests.set(tag, await real.push(tag, 'amd64'))
    digests.set('1.10-arm64', await real.push('1.10-arm64', 'arm64'))
    digests.set('1.10', await real.pushIndex('1.10', { amd64: '1.10-amd64', arm64: '1.10-arm64' }))
  })

  afterAll(() => real?.stop())

  test('says what its tags name, over its own authority and with a password', async () => {
    expect(await registry.look(`${closed}/team/os:1.2`, reader, signal)).toEqual({
      digest: digests.get('1.2'),
      platforms: [{ os: 'linux', architecture: 'amd64', digest: digests.get('1.2') }],
    })
    expect(await registry.look(`${closed}/team/os:1.10`, reader, signal)).toEqual({
      digest: digests.get('1.10'),
      platforms: [
        { os: 'linux', architecture: 'amd64', digest: digests.get('1.10-amd64') },
        { os: 'linux', architecture: 'arm64', digest: digests.get('1.10-arm64') },
      ],
    })
    const pinned = `${closed}/team/os@${digests.get('1.10')}`
    expect((await registry.look(pinned, reader, signal)).digest).toBe(digests.get('1.10'))
  })

  test('lists its tags, of which the newest is chosen', async () => {
    const tags = await registry.tags(`${closed}/team/os`, reader, signal)
    expect(tags.toSorted()).toEqual(['1.10', '1.10-amd64', '1.10-arm64', '1.2', '1.9', '2.0'])
    expect(newestTag(tags, '1.*')).toBe('1.10')
  })

  test('names another image when a tag moves; the digest stays what it was', async () => {
    const before = await real.push('moving', 'amd64', 'one')
    const after = await real.push('moving', 'amd64', 'two')
    expect((await registry.look(`${closed}/team/os:moving`, reader, signal)).digest).toBe(after)
    expect((await registry.look(`${closed}/team/os@${before}`, reader, signal)).digest).toBe(before)
  })

  test.each<[string, () => RegistryAccess, string, string]>([
    ['nobody', () => ({ ca: real.authority }), 'RegistryRefused', 'wants credentials'],
    ['a wrong password', () => ({ ...reader, password: 'wrong' }), 'RegistryRefused', 'does not take the credentials'],
    ['an authority nobody knows', () => ({ username, password }), 'CannotReach', 'certificate'],
    ['plain http', () => ({ ...reader, plain: true }), 'RegistryRefused', '400'],
  ])('does not answer %s', async (_, access, code, says) => {
    const asked = registry.look(`${closed}/team/os:1.2`, access(), signal)
    await expect(asked).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
    await expect(asked).rejects.not.toMatchObject({ message: expect.stringContaining(password) })
  })

  test.each(['team/os:9.9', 'team/other:1.2'])('has no %s', async (name) => {
    const asked = registry.look(`${closed}/${name}`, reader, signal)
    await expect(asked).rejects.toMatchObject({ code: 'RegistryRefused', message: expect.stringContaining('404') })
  })

  test('stands in for another as its mirror', async () => {
    const access = { mirrors: [{ url: `http://${real.open}` }], username: 'never', password: 'sent' }
    const found = await registry.look('registry.invalid/team/os:1.9', access, signal)
    expect(found.digest).toBe(digests.get('1.9'))
    const asked = registry.look('registry.invalid/team/os:9.9', access, signal)
    await expect(asked).rejects.toMatchObject({
      code: 'CannotReach',
      message: expect.stringContaining('registry.invalid'),
    })
  })
})
