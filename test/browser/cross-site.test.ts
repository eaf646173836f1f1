// A page of somebody else in the same browser, which even knows the token: it may neither read nor do anything.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { type Browser, startBrowser } from '../bed/chromium.ts'
import { type ConsoleBed, startConsole } from './console-server.ts'

const { signal } = new AbortController()
let bed: ConsoleBed
let browser: Browser
let elsewhere: Server
let page: Page

beforeAll(async () => {
  bed = await startConsole({ situation: 'blocked' })
  // A name that first led to its owner's server, and leads here now.
  browser = await startBrowser({ flags: ['--host-resolver-rules=MAP evil.test 127.0.0.1'] })
  elsewhere = createServer((_request, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end('<!doctype html><title>elsewhere</title><iframe name="target"></iframe>')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  page = await browser.context.newPage()
  await page.goto(`http://evil.test:${(elsewhere.address() as AddressInfo).port}/`)
})
afterAll(async () => {
  await browser?.close()
  await bed?.stop()
  elsewhere?.close()
})

const generation = async () => (await bed.person.get(directUpdates, { name: 'to-1-36' }, signal)).metadata.generation
/** What the page gets of it: the text it could read, or why it could not. */
const tried = (code: string) => page.evaluate<string>(`(async () => { ${code} })().catch((error) => error.name)`)
const pause = JSON.stringify({ action: 'pause', update: 'to-1-36' })

test('its own page at the same moment can do it: the request is a right one', async () => {
  const own = await browser.context.newPage()
  await own.goto(bed.url)
  const before = await generation()
  const status = await own.evaluate<number>(
    `fetch('/api/actions', { method: 'POST', body: ${JSON.stringify(pause)},
      headers: { authorization: 'Bearer ${bed.token}', 'content-type': 'application/json' } }).then(({ status }) => status)`,
  )
  expect(status).toBe(200)
  expect(await generation()).not.toBe(before)
  await own.close()
})

for (const host of ['127.0.0.1', 'evil.test']) {
  const api = (path: string) => `http://${host}:${bed.port}/api/${path}`

  test(`${host}: nothing is read by fetch, EventSource, script or image`, async () => {
    const stream = api(`stream?token=${bed.token}`)
    expect(await tried(`return (await fetch('${stream}')).text()`)).toBe('TypeError')
    expect(await tried(`return (await fetch('${stream}', { mode: 'no-cors' })).text()`)).toBe('TypeError')
    const loaded = (make: string) =>
      tried(`return new Promise((done) => { ${make}; it.onload = it.onmessage = () => done('read'); it.onopen = () => done('read')
        it.onerror = () => done('refused'); if (it.src !== undefined && it.tagName) document.body.append(it) })`)
    expect(await loaded(`const it = new EventSource('${stream}')`)).toBe('refused')
    expect(await loaded(`const it = new Image(); it.src = '${stream}'`)).toBe('refused')
    expect(await loaded(`const it = document.createElement('script'); it.src = '${stream}'`)).toBe('refused')
  })

  test(`${host}: nothing is done by fetch or a form`, async () => {
    const before = await generation()
    const headers = `{ authorization: 'Bearer ${bed.token}', 'content-type': 'application/json' }`
    const post = `method: 'POST', body: ${JSON.stringify(pause)}`
    expect(await tried(`return (await fetch('${api('actions')}', { ${post}, headers: ${headers} })).text()`)).toBe(
      'TypeError',
    )
    await tried(`await fetch('${api(`actions?token=${bed.token}`)}', { ${post}, mode: 'no-cors' })`)
    await tried(`const form = document.createElement('form')
      Object.assign(form, { method: 'post', enctype: 'text/plain', target: 'target', action: '${api(`actions?token=${bed.token}`)}' })
      const field = Object.assign(document.createElement('input'), { name: ${JSON.stringify(pause.slice(0, -1))}, value: '}' })
      form.append(field); document.body.append(form); form.submit()
      await new Promise((done) => setTimeout(done, 500))`)
    expect(await generation()).toBe(before)
  })
}

test('a name that was led here shows nothing, with the token or without', async () => {
  const led = await browser.context.newPage()
  for (const path of ['', `?token=${bed.token}`, `api/stream?token=${bed.token}`]) {
    const answer = await led.goto(`http://evil.test:${bed.port}/${path}`)
    expect(answer?.status()).toBe(421)
  }
  await led.close()
})
