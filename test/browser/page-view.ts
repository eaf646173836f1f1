// A page of the console as a person has it before them, and what the rules of accessibility say of it.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Browser } from '../bed/chromium.ts'
import type { ConsoleBed } from './console-server.ts'

export interface PageView {
  readonly page: Page
  /** What the browser complained of. */
  readonly complaints: readonly string[]
  /** Goes to `update/to-1-36` and waits for its title. */
  go(place: string): Promise<void>
  /** What the page says of the last button that was pressed. */
  outcome(): Promise<string | null>
  /** Rules broken, in both themes. */
  violations(): Promise<readonly string[]>
  /** How far the page could be scrolled sideways, in pixels. */
  sideways(): Promise<number>
}

export async function openPage({ context }: Browser, bed: ConsoleBed, place: string): Promise<PageView> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.goto(bed.url.replace(/#.*$/, `#/${place}`))
  const settled = async () => {
    await page.locator('[data-screen]:not([aria-busy="true"]) h1').waitFor()
  }
  await settled()
  return {
    page,
    complaints,
    go: async (next) => {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${next}`)}`)
      await page.waitForTimeout(50)
      await settled()
    },
    outcome: () => page.getByRole('status', { name: 'What became of your action' }).textContent(),
    violations: async () => {
      const found: string[] = []
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        // By evaluate, as the page's own policy lets no foreign script in.
        await page.evaluate(axe)
        const rules = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')
        found.push(...told(rules, colorScheme))
      }
      return found
    },
    sideways: () => page.evaluate<number>(overflow),
  }
}

const overflow = `(() => {
  const screen = document.querySelector('[data-screen]')
  return screen.scrollWidth - screen.clientWidth + document.body.scrollWidth - innerWidth
})()`

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

function told(results: unknown, theme: string): readonly string[] {
  const { violations } = results as { readonly violations: readonly Violation[] }
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${theme}: ${id}: ${html} ${failureSummary}`),
  )
}
