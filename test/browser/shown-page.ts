// One console, one browser and one page of it for all tests of a file.

import { afterAll, beforeAll } from 'vitest'
import { type Browser, startBrowser } from '../bed/chromium.ts'
import { type ConsoleBed, type ConsoleBedOptions, startConsole } from './console-server.ts'
import { openPage, type PageView } from './page-view.ts'

/** There from the first test on. */
export interface ShownPage {
  readonly bed: ConsoleBed
  readonly browser: Browser
  readonly view: PageView
}

export function showPage(
  options: ConsoleBedOptions,
  place: string,
  size: { readonly width?: number; readonly height?: number } = {},
): ShownPage {
  const shown: { bed?: ConsoleBed; browser?: Browser; view?: PageView } = {}
  beforeAll(async () => {
    shown.bed = await startConsole(options)
    shown.browser = await startBrowser(size)
    shown.view = await openPage(shown.browser, shown.bed, place)
  })
  afterAll(async () => {
    await shown.browser?.close()
    await shown.bed?.stop()
  })
  return shown as ShownPage
}
