// The page Fleet: what it shows of an upgrade that is held up, and that its buttons act on the cluster.

import { expect, test } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { holdOf } from '../../src/core/node/node-marks.ts'
import { startConsole } from './console-server.ts'
import { openPage } from './page-view.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'blocked' }, 'fleet')
const { signal } = new AbortController()

const tile = (name: string) => shown.view.page.locator(`[data-node="${name}"]`)
const panel = (name: string) => shown.view.page.getByRole('complementary', { name: `Node ${name}` })
const press = (name: string) => shown.view.page.getByRole('button', { name, exact: true }).click()

const focused = () => shown.view.page.evaluate<string>('document.activeElement.dataset.node')

async function drainingNode(): Promise<string> {
  const label = await shown.view.page.locator('[data-node][aria-label*="Draining"]').first().getAttribute('data-node')
  return label ?? ''
}

test('every node is a tile that says what its colour says; no rule of accessibility is broken', async () => {
  const { page } = shown.view
  expect(await page.title()).toBe('Fleet · test · Slipway')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^\d+ of 12 nodes run v1\.36\.3$/)
  expect(await page.locator('[data-node]').count()).toBe(12)
  expect(await tile('cp1').getAttribute('aria-label')).toMatch(/^cp1, Control plane, eu-1a, Done/)
  expect(await shown.view.violations()).toEqual([])
  expect(shown.view.complaints).toEqual([])
})

test('a tile opens the node: the reason first, since and next check, its life; the address leads back to it', async () => {
  const { page } = shown.view
  const name = await drainingNode()
  await tile(name).click()
  await expect.poll(() => page.url()).toContain(`#/fleet/${name}`)
  const words = () => panel(name).textContent()
  await expect.poll(words).toContain('Life of this node')
  for (const word of ['shop/checkout', 'Since', 'Next check', 'Drain:', 'kubelet'])
    expect(await words()).toContain(word)
  expect(await panel(name).locator('code').textContent()).toBe(`slipway why ${name}`)
  expect(await page.title()).toContain(name)
  expect(await shown.view.violations()).toEqual([])
  const other = await openPage(shown.browser, shown.bed, `fleet/${name}`)
  await expect.poll(() => other.page.getByRole('complementary', { name: `Node ${name}` }).count()).toBe(1)
  await other.go('fleet/no-such-node')
  await expect.poll(() => other.page.textContent('aside')).toContain('There is no node no-such-node')
  await other.page.close()
})

test('arrows walk the tiles, Enter opens, Escape closes and stays at the tile', async () => {
  const { page } = shown.view
  await shown.view.go('fleet')
  await tile('cp1').focus()
  await page.keyboard.press('ArrowRight')
  expect(await focused()).toBe('cp2')
  await page.keyboard.press('ArrowDown')
  const below = await focused()
  expect(below).toMatch(/^w\d+$/)
  expect(await page.locator('[data-node][tabindex="0"]').count()).toBe(1)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toContain(`#/fleet/${below}`)
  await page.keyboard.press('Escape')
  await expect.poll(() => page.url()).toMatch(/#\/fleet$/)
  expect(await focused()).toBe(below)
})

test('the filter and the legend dim and never move', async () => {
  const { page } = shown.view
  const before = await tile('w1').boundingBox()
  await page.keyboard.press('/')
  await page.keyboard.type('zone:eu-1b')
  const note = page.getByText('4 nodes match', { exact: true })
  await note.waitFor()
  expect(await page.locator('[data-node][class*="dim"]').count()).toBe(8)
  expect(await tile('w1').boundingBox()).toEqual(before)
  await page.getByLabel('Filter nodes').fill('pool:x')
  await page.getByText('no such word: pool').waitFor()
  await page.getByLabel('Filter nodes').fill('')
  await page.getByRole('button', { name: /^Draining/ }).click()
  const away = await page.locator('[data-node][aria-label*="Draining"]').count()
  await expect.poll(() => page.locator('[data-node][class*="dim"]').count()).toBe(12 - away)
  await page.getByRole('button', { name: /^Draining/ }).click()
  await expect.poll(() => page.locator('[data-node][class*="dim"]').count()).toBe(0)
})

test('the list has what needs a look first, and leads to the node', async () => {
  const { page } = shown.view
  await press('List')
  const rows = page.getByRole('table').getByRole('row')
  expect(await rows.count()).toBe(13)
  expect(await rows.nth(1).textContent()).toContain('Draining')
  expect(await shown.view.violations()).toEqual([])
  await press('Map')
})

test('hold and release act on the node, skip on the update; each shows its command', async () => {
  const name = await drainingNode()
  await shown.view.go(`fleet/${name}`)
  await press('Hold')
  await expect.poll(shown.view.outcome).toContain(`slipway hold ${name}`)
  const held = async () => holdOf(await shown.bed.person.get(nodes, { name }, signal))
  expect(await held()).toContain('mira')
  await expect.poll(() => panel(name).textContent()).toContain('On hold: mira')
  await press('Release')
  await expect.poll(held).toBeUndefined()
  await press('Skip…')
  await shown.view.page.getByRole('alertdialog').getByRole('button', { name: 'Leave it out' }).click()
  await expect.poll(shown.view.outcome).toContain(`slipway skip`)
  const { spec } = await shown.bed.person.get(directUpdates, { name: 'to-1-36' }, signal)
  expect(spec.skip).toContain(name)
})

test('HTML in a message is text', async () => {
  const name = await drainingNode()
  const evil = '<img src=x onerror="window.hit=1"><b>shop/checkout</b>'
  const { status } = await shown.bed.person.get(nodeStates, { name }, signal)
  const reason = { code: 'PodDisruptionBudget', message: evil }
  const body = { status: { rollout: { ...status?.rollout, reason } } }
  await shown.bed.person.patch(nodeStates, { name }, { type: 'merge', body }, signal, 'status')
  await shown.view.go(`fleet/${name}`)
  await expect.poll(() => panel(name).textContent()).toContain(evil)
  await tile(name).hover()
  expect(await shown.view.page.locator('main img').count()).toBe(0)
  expect(await shown.view.page.evaluate("'hit' in window")).toBe(false)
})

test('a narrow window has the same without scrolling sideways', async () => {
  await shown.view.go('fleet')
  await shown.view.page.setViewportSize({ width: 900, height: 700 })
  expect(await shown.view.sideways()).toBe(0)
  expect(await shown.view.page.getByRole('link', { name: 'Why' }).isVisible()).toBe(true)
  expect(await shown.view.violations()).toEqual([])
  await shown.view.page.setViewportSize({ width: 1440, height: 900 })
})

test('who has no rights is told which one is missing, at the button and when it is pressed', async () => {
  const poor = await startConsole({
    situation: 'blocked',
    may: (verb) => verb === 'list' || verb === 'watch' || verb === 'get',
  })
  const reader = await openPage(shown.browser, poor, 'fleet')
  const name =
    (await reader.page.locator('[data-node][aria-label*="Draining"]').first().getAttribute('data-node')) ?? ''
  await reader.go(`fleet/${name}`)
  const hold = reader.page.getByRole('button', { name: 'Hold', exact: true })
  await expect.poll(() => hold.getAttribute('aria-disabled')).toBe('true')
  expect(await hold.getAttribute('title')).toContain('patch nodes')
  expect(await reader.page.locator('aside').textContent()).toContain('mira may not hold, skip: needs the right')
  await hold.focus()
  await reader.page.keyboard.press('Enter')
  await expect.poll(reader.outcome).toContain('needs the right patch nodes')
  expect(holdOf(await poor.person.get(nodes, { name }, signal))).toBeUndefined()
  expect(await reader.violations()).toEqual([])
  await reader.page.close()
  await poor.stop()
})
