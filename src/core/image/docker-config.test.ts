import { describe, expect, it } from 'vitest'
import { credentialsIn } from './docker-config.ts'

const auth = (text: string) => Buffer.from(text).toString('base64')
const config = (auths: object) => ({ '.dockerconfigjson': JSON.stringify({ auths }) })
const reader = { username: 'reader', password: 'p:ä' }

describe('credentials in a Secret', () => {
  it.each([
    ['a name and a password', { username: 'reader', password: 'p:ä\n' }],
    ['an entry of the host', config({ 'registry.example': { auth: auth('reader:p:ä') } })],
    ['an entry with an address', config({ 'https://registry.example/v2/': { auth: auth('reader:p:ä') } })],
    ['an entry in two fields', config({ 'registry.example': reader })],
    ['one of several', config({ 'other.example': { auth: auth('a:b') }, 'registry.example': reader })],
  ])('are found: %s', (_, data) => {
    expect(credentialsIn(data, 'registry.example')).toEqual(reader)
  })

  it('of Docker Hub have its old address', () => {
    expect(credentialsIn(config({ 'https://index.docker.io/v1/': reader }), 'docker.io')).toEqual(reader)
  })

  it.each([
    ['nothing', {}],
    ['half', { username: 'reader' }],
    ['no JSON', { '.dockerconfigjson': 'reader:secret' }],
    ['an entry of another', config({ 'registry.example.org': reader })],
    ['no pair', config({ 'registry.example': { auth: auth('reader') } })],
    ['no base64', config({ 'registry.example': { auth: 'reader:secret' } })],
    ['cut base64', config({ 'registry.example': { auth: 'abcde' } })],
    ['an entry without any', config({ 'registry.example': {} })],
  ])('are not there: %s', (_, data) => {
    expect(credentialsIn(data, 'registry.example')).toBeUndefined()
  })
})
