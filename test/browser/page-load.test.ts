// The page comes up in a real browser, from the real server, under the policy that lets nothing but our own files run.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, startBrowser } from '../bed/chromium.ts'
import { type ConsoleBed, startConsole } from './console-server.ts'

let bed: ConsoleBed
let browser: Browser

beforeAll(async () => {
  bed = await startConsole({ situation: 'blocked' })
  browser = await startBrowser()
})

afterAll(async () => {
  await browser?.close()
  await bed?.stop()
})

test('it loads without a word of complaint, takes the token out of the address, and is told the state', async () => {
  const page = await browser.context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(bed.url)
  await expect.poll(() => bed.console.hub.open).toBe(1)
  await expect.poll(() => page.url()).not.toContain('token')
  expect(complaints).toEqual([])
  await page.close()
  await expect.poll(() => bed.console.hub.open).toBe(0)
})
