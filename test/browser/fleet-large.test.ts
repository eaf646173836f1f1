// Five thousand nodes: every one is there, a change is on the screen at once, and looking on costs next to nothing.

import { beforeAll, expect, test } from 'vitest'
import { PageFigures } from './page-figures.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'large', nodes: 5_000 }, 'fleet')
let figures: PageFigures

beforeAll(async () => {
  figures = await PageFigures.of(shown.browser, shown.view)
})

const lists = () => shown.view.page.getByRole('listbox')

test('all are drawn, in lists that say what they hold; no rule of accessibility is broken', async () => {
  const { page } = shown.view
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('of 5,000 nodes')
  const sizes = await page.locator('[role=option]').evaluateAll((all) => all.map((one) => Number(one.ariaSetSize)))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5_000)
  expect(await lists().first().getAttribute('aria-label')).toMatch(/^Control plane in .+: \d+ Done/)
  expect(await shown.view.violations()).toEqual([])
  expect(shown.view.complaints).toEqual([])
})

test('keys walk the cells and open a node', async () => {
  const { page } = shown.view
  const list = lists().last()
  await list.focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  const name = await list.locator('[role=option]').getAttribute('data-active-node')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.getByRole('complementary', { name: `Node ${name}` }).count()).toBe(1)
  await page.keyboard.press('Escape')
  await expect.poll(() => page.url()).toMatch(/#\/fleet$/)
})

test('a change is soon on the screen', async () => {
  const took = await figures.changesToPixel(shown.bed, ['Failed', 'Working', 'Failed', 'Working', 'Failed'])
  const middle = took.toSorted((a, b) => a - b)[2] ?? Number.NaN
  process.stdout.write(`change to pixel with 5,000 nodes: ${took.join(', ')} ms\n`)
  // 200 ms on a quiet machine (make bench); others may be at work here.
  expect(middle).toBeLessThanOrEqual(2_000)
})

test('the heap stays under 60 MB, and looking on takes next to no time', async () => {
  for (let at = 0; at < 20; at++) await shown.bed.large?.setPhase(shown.bed.large.names[2_600 + at] ?? '', 'Working')
  await shown.view.page.waitForTimeout(500)
  const heapMB = await figures.heapMB()
  const ratio = await figures.idleRatio(3)
  process.stdout.write(`heap ${heapMB.toFixed(1)} MB, idle ${(ratio * 100).toFixed(2)} % of a core\n`)
  expect(heapMB).toBeLessThanOrEqual(60)
  // One percent on a quiet machine (make bench); others may be at work here.
  expect(ratio).toBeLessThanOrEqual(0.04)
})
