import { describe, expect, it } from 'vitest'
import type { HttpRequest } from '../ports/http-server.ts'
import { refusalOf } from './guard.ts'

const token = 'a'.repeat(32)
const port = 4321
const own = { host: '127.0.0.1:4321', authorization: `Bearer ${token}` }

function asked(headers: Record<string, string>, change: Partial<HttpRequest> = {}): HttpRequest {
  return {
    ...{ method: 'GET', path: '/api/rights', query: new URLSearchParams(), headers },
    ...{ readBody: async () => '', signal: new AbortController().signal },
    ...change,
  }
}

describe('who may ask', () => {
  it.each([
    ['with the token, at our address', asked(own)],
    ['by the name localhost', asked({ ...own, host: 'localhost:4321' })],
    ['over IPv6', asked({ ...own, host: '[::1]:4321' })],
    ['from our own page', asked({ ...own, origin: 'http://127.0.0.1:4321', 'sec-fetch-site': 'same-origin' })],
    ['a stream, with the token in its address', asked({ host: own.host }, { query: new URLSearchParams({ token }) })],
    ['the page itself, without one', asked({ host: own.host }, { path: '/' })],
    ['the page, by a link on another site', asked({ host: own.host, 'sec-fetch-site': 'cross-site' }, { path: '/' })],
    ['JSON', asked({ ...own, 'content-type': 'application/json; charset=utf-8' }, { method: 'POST' })],
  ])('%s', (_, request) => {
    expect(refusalOf(request, token, port)).toBeUndefined()
  })

  it.each([
    ['without a token', 'TokenWrong', asked({ host: own.host })],
    ['with another token', 'TokenWrong', asked({ ...own, authorization: `Bearer ${'b'.repeat(32)}` })],
    ['with a part of the token', 'TokenWrong', asked({ ...own, authorization: `Bearer ${token.slice(1)}` })],
    ['with more than the token', 'TokenWrong', asked({ ...own, authorization: `Bearer ${token}a` })],
    ['with an empty token', 'TokenWrong', asked({ host: own.host }, { query: new URLSearchParams({ token: '' }) })],
    [
      'a write with the token in its address, where a log may keep it',
      'TokenWrong',
      asked(
        { host: own.host, 'content-type': 'application/json' },
        { method: 'POST', query: new URLSearchParams({ token }) },
      ),
    ],
    ['by a name that was made to point here', 'WrongHost', asked({ ...own, host: 'evil.example:4321' })],
    ['for another port', 'WrongHost', asked({ ...own, host: '127.0.0.1:80' })],
    ['without a host', 'WrongHost', asked({ authorization: own.authorization })],
    ['for the page by another name', 'WrongHost', asked({ host: 'evil.example:4321' }, { path: '/' })],
    ['from a page of another site', 'WrongOrigin', asked({ ...own, origin: 'https://evil.example' })],
    ['from a page at another port of this machine', 'WrongOrigin', asked({ ...own, origin: 'http://127.0.0.1:80' })],
    ['from a sandboxed frame', 'WrongOrigin', asked({ ...own, origin: 'null' })],
    ['an image on another site', 'WrongOrigin', asked({ ...own, 'sec-fetch-site': 'cross-site' })],
    ['a form of another site', 'WrongContentType', asked({ ...own, 'content-type': 'text/plain' }, { method: 'POST' })],
    ['a write without a kind', 'WrongContentType', asked(own, { method: 'POST' })],
  ])('not %s', (_, code, request) => {
    expect(refusalOf(request, token, port)?.code).toBe(code)
  })
})
