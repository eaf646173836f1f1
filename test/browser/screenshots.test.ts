// The pictures of the documentation, made of the real page. SLIPWAY_KEEP_PICTURES=1 keeps them in docs/pictures.

import { mkdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startConsole } from './console-server.ts'
import { openPage, type PageView } from './page-view.ts'
import { pressed } from './pressed-picture.ts'
import { showPage } from './shown-page.ts'

const folder = new URL('../../docs/pictures/', import.meta.url)
const mostBytes = 130_000

const shown = showPage({ situation: 'blocked', nodes: 60, demo: true }, 'fleet', { width: 1280, height: 720 })

async function picture(
  name: string,
  place: string,
  colorScheme: 'dark' | 'light',
  { page, go }: Pick<PageView, 'page' | 'go'> = shown.view,
): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await go(place)
  await page.waitForTimeout(300)
  const bytes = pressed(await page.screenshot({ type: 'png' }))
  expect(bytes.length).toBeLessThan(mostBytes)
  if (process.env.SLIPWAY_KEEP_PICTURES !== '1') return
  await mkdir(folder, { recursive: true })
  await writeFile(new URL(`${name}.png`, folder), bytes)
}

test('the fleet in the middle of an upgrade, dark', async () => {
  const name = await shown.view.page.locator('[data-node][aria-label*="Draining"]').first().getAttribute('data-node')
  await picture('fleet-dark', `fleet/${name}`, 'dark')
})

test('the fleet in the middle of an upgrade, light', async () => {
  await picture('fleet-light', 'fleet', 'light')
})

test('an update with its waves on a line of time, dark', async () => {
  await picture('update-dark', 'update/to-1-36', 'dark')
})

test('budgets, slots and the coming nights, light', async () => {
  await picture('budget-light', 'budget', 'light')
})

test('a plan before it is started, dark', async () => {
  // Of fewer nodes: rehearsals of a hundred take half a minute.
  const small = await startConsole({ situation: 'fresh' })
  try {
    const { page, go } = await openPage(shown.browser, small, 'plan/new')
    await page.getByLabel('Kubernetes version').fill('v1.36.3')
    await page.getByLabel('Name').fill('once-more')
    await page.getByLabel('Strategy').selectOption('Canary')
    await page.getByRole('button', { name: 'Rehearse it' }).click()
    await page.getByRole('heading', { name: /^Plan of once-more/ }).waitFor()
    await picture('plan-dark', new URL(page.url()).hash.slice(2), 'dark', { page, go })
  } finally {
    await small.stop()
  }
})
