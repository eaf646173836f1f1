// HTML in any field of any resource is text on every page. It is put into all that the server tells, so no field is forgotten.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, startBrowser } from '../bed/chromium.ts'
import { type ConsoleBed, startConsole } from './console-server.ts'
import { openPage, type PageView } from './page-view.ts'
import { readStream } from './stream-reader.ts'

const evil = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>'
/** What the page compares and looks up: the API lets nothing but plain names into these. */
const names = new Set([
  ...['name', 'update', 'updates', 'node', 'nodes', 'key', 'store', 'check', 'work', 'timeZone'],
  ...['code', 'phase', 'state', 'kind', 'role', 'desiredState', 'waitsFor', 'result', 'operationID', 'version'],
])

let bed: ConsoleBed
let browser: Browser
let view: PageView

beforeAll(async () => {
  bed = await startConsole({ situation: 'blocked' })
  browser = await startBrowser()
  await browser.context.route(/\/api\/(nodes|plans|rights)/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: planted(await response.text()) })
  })
  await browser.context.route(/\/api\/stream/, async (route) => {
    const body = `event: state\ndata: ${planted(JSON.stringify(await firstState()))}\n\n`
    await route.fulfill({ contentType: 'text/event-stream', body })
  })
  view = await openPage(browser, bed, 'fleet')
})
afterAll(async () => {
  // What the page still asks for when it is closed has no answer to put anything into.
  await browser?.context.unrouteAll({ behavior: 'ignoreErrors' })
  await browser?.close()
  await bed?.stop()
})

async function firstState(): Promise<unknown> {
  const reader = await readStream(bed)
  reader.close()
  return reader.state
}

function planted(text: string): string {
  return JSON.stringify(plantedIn(JSON.parse(text), ''))
}

function plantedIn(value: unknown, key: string): unknown {
  if (typeof value === 'string') return names.has(key) || /^\d{4}-\d\d-\d\dT/.test(value) ? value : `${value}${evil}`
  if (Array.isArray(value)) return value.map((entry) => plantedIn(entry, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([of, entry]) => [of, plantedIn(entry, of)]))
}

test.each(['fleet', 'fleet/w1', 'update/to-1-36', 'why', 'plan', 'budget', 'backups', 'history'])(
  '%s',
  async (place) => {
    await view.go(place)
    await expect.poll(() => view.page.locator('body').textContent()).toContain(evil)
    const seen = await view.page.evaluate(
      `({ images: document.querySelectorAll('img').length, scripts: document.querySelectorAll('body script').length, hit: window.hit })`,
    )
    expect(seen).toEqual({ images: 0, scripts: 0, hit: undefined })
  },
)
