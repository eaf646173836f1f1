// The page Why: every cause with its chain and what it holds up; its buttons act on the cluster.

import { expect, test } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { startConsole } from './console-server.ts'
import { openPage } from './page-view.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'blocked' }, 'why')
const { signal } = new AbortController()

const main = () => shown.view.page.locator('main').textContent()

test('causes stand by who must act, with the sentence of the status; no rule of accessibility is broken', async () => {
  const { page } = shown.view
  expect(await page.title()).toBe('Why · test · Slipway')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^\d+ causes, none needs a person$/)
  const group = page.getByRole('region', { name: 'Waits for the cluster' })
  expect(await group.getByRole('link').count()).toBeGreaterThan(1)
  expect(await group.textContent()).toContain('PodDisruptionBudget shop/checkout')
  expect(await shown.view.violations()).toEqual([])
  expect(shown.view.complaints).toEqual([])
})

test('a cause opens with its chain, its nodes and its command; the address leads back to it', async () => {
  const { page } = shown.view
  await page
    .getByRole('link', { name: /PodDisruptionBudget/ })
    .first()
    .click()
  await expect.poll(() => page.url()).toContain('#/why/PodDisruptionBudget')
  for (const words of ['Because', 'Holds up', 'to-1-36', 'Nodes', 'slipway why']) expect(await main()).toContain(words)
  expect(await shown.view.violations()).toEqual([])
  const other = await openPage(shown.browser, shown.bed, page.url().split('#/')[1] ?? '')
  expect(await other.page.locator('a[aria-current="true"]').textContent()).toContain('PodDisruptionBudget')
  await other.go('why/long-gone')
  await expect.poll(() => other.page.textContent('main')).toContain('This cause is gone')
  await other.page.close()
})

test('its nodes lead to the fleet, and the way back is where it was', async () => {
  const { page } = shown.view
  const node = page.locator('main dd a[href^="#/fleet/"]').first()
  const name = await node.textContent()
  await node.click()
  await expect.poll(() => page.getByRole('complementary', { name: `Node ${name}` }).count()).toBe(1)
  await page.goBack()
  await expect.poll(() => page.url()).toContain('#/why/PodDisruptionBudget')
})

test('a search looks into nodes and pods; where nothing is found it says so', async () => {
  const { page } = shown.view
  await page.keyboard.press('/')
  await page.keyboard.type('shop/checkout')
  await expect.poll(() => page.getByRole('link', { name: /budget allows/ }).count()).toBe(0)
  await page.getByLabel('Filter causes').fill('nothing like it')
  await page.getByText('No cause says that').waitFor()
  await page.getByLabel('Filter causes').fill('')
})

test('an emergency stop is a cause of its own, and goes on from there', async () => {
  const { page } = shown.view
  const paused = async () => (await shown.bed.person.get(maintenancePolicies, { name: policyName }, signal)).spec.paused
  await page.getByRole('button', { name: 'Emergency stop' }).click()
  const dialog = page.getByRole('alertdialog')
  expect(await dialog.textContent()).toContain('slipway stop --all')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Go back')
  expect(await shown.view.violations()).toEqual([])
  await page.keyboard.press('Escape')
  await expect.poll(() => dialog.count()).toBe(0)
  expect(await paused()).not.toBe(true)
  await page.getByRole('button', { name: 'Emergency stop' }).click()
  await dialog.getByRole('button', { name: 'Stop everything' }).click()
  await expect.poll(paused).toBe(true)
  await page.getByRole('region', { name: 'Needs a person' }).getByRole('link').first().click()
  await page.getByRole('main').getByRole('button', { name: 'Go on…', exact: true }).click()
  await dialog.getByRole('button', { name: 'Go on' }).click()
  await expect.poll(paused).not.toBe(true)
  await expect.poll(() => shown.view.outcome()).toContain('slipway start --all')
})

test('what is asked stays what was asked, though somebody else acts meanwhile', async () => {
  const { page } = shown.view
  const { person } = shown.bed
  const pausedTo = (paused: boolean) =>
    person.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec: { paused } } }, signal)
  const dialog = page.getByRole('alertdialog')
  await page.getByRole('button', { name: 'Emergency stop' }).click()
  await pausedTo(true)
  await expect.poll(() => page.getByText('Stopped: go on…').count()).toBe(1)
  expect(await dialog.textContent()).toContain('slipway stop --all')
  await dialog.getByRole('button', { name: 'Stop everything' }).click()
  await expect.poll(() => shown.view.outcome()).toContain('slipway stop --all')
  expect((await person.get(maintenancePolicies, { name: policyName }, signal)).spec.paused).toBe(true)
  await pausedTo(false)
  await expect.poll(() => page.getByRole('button', { name: 'Emergency stop' }).count()).toBe(1)
})

test('what wants an approval is approved here, in the name of whoever looks', async () => {
  const waiting = await startConsole({ situation: 'approval' })
  const asked = await openPage(shown.browser, waiting, 'why')
  expect(await asked.page.getByRole('heading', { level: 1 }).textContent()).toContain('need')
  await asked.page.getByRole('link', { name: /waits for approval/ }).click()
  await asked.page.getByRole('button', { name: 'Approve to-1-36' }).click()
  await expect.poll(() => asked.outcome()).toContain('slipway approve')
  const { spec } = await waiting.person.get(directUpdates, { name: 'to-1-36' }, signal)
  expect(spec.approvals?.map(({ by }) => by)).toContain('mira')
  await asked.page.close()
  await waiting.stop()
})

test('where nothing waits it says what comes next', async () => {
  const fresh = await startConsole({ situation: 'fresh' })
  const quiet = await openPage(shown.browser, fresh, 'why')
  expect(await quiet.page.getByRole('heading', { level: 1 }).textContent()).toBe('Nothing waits')
  expect(await quiet.page.locator('main').textContent()).toContain('Every node is where it should be')
  expect(await quiet.violations()).toEqual([])
  await quiet.page.setViewportSize({ width: 900, height: 700 })
  expect(await quiet.sideways()).toBe(0)
  await quiet.page.close()
  await fresh.stop()
})
