import { describe, expect, it } from 'vitest'
import { readChallenge } from './challenge.ts'

const realm = 'https://auth.example/token'

describe('a challenge', () => {
  it.each([
    ['Basic realm="Registry"', { scheme: 'basic' }],
    ['basic', { scheme: 'basic' }],
    [`Bearer realm="${realm}"`, { scheme: 'bearer', realm }],
    [
      `Bearer realm="${realm}",service="registry.example",scope="repository:team/os:pull,push"`,
      { scheme: 'bearer', realm, service: 'registry.example', scope: 'repository:team/os:pull,push' },
    ],
    [`bearer realm=${realm}, service=reg`, { scheme: 'bearer', realm, service: 'reg' }],
    [`Basic realm="x", Bearer realm="${realm}",service="s"`, { scheme: 'bearer', realm, service: 's' }],
    [`Bearer realm="${realm}",service="a \\"quoted\\" name"`, { scheme: 'bearer', realm, service: 'a "quoted" name' }],
    [`Bearer realm="${realm}",service="of Basic, Bearer"`, { scheme: 'bearer', realm, service: 'of Basic, Bearer' }],
  ])('%s is read', (header, expected) => {
    expect(readChallenge(header)).toEqual(expected)
  })

  it.each(['', 'Negotiate', 'Bearer', 'Bearer service="x"', 'Digest realm="x"'])('%j cannot be met', (header) => {
    expect(readChallenge(header)).toBeUndefined()
  })
})
