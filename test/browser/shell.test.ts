// What is the same on every page: keys, focus, themes, and what is said when nothing new arrives.

import { expect, test } from 'vitest'
import { startConsole } from './console-server.ts'
import { openPage } from './page-view.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'blocked' }, 'fleet')

const bar = () => shown.view.page.getByRole('status', { name: 'Link' })

test('keys 1 to 7 lead to the pages; each has its title, and the focus goes along', async () => {
  const { page } = shown.view
  const titles = ['Fleet', 'Update', 'Why', 'Plan', 'Budget', 'Backups', 'History']
  for (const [at, title] of [...titles.entries()].reverse()) {
    await page.keyboard.press(String(at + 1))
    await expect.poll(() => page.locator('nav [aria-current="page"]').textContent()).toContain(title)
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  }
  await page.getByRole('heading', { level: 1 }).waitFor()
})

test('the first tab stop skips the navigation', async () => {
  const { page } = shown.view
  await page.reload()
  await page.locator('[data-node]').first().waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  const landmarks = page.getByRole('navigation', { name: 'Console' })
  expect(await landmarks.count()).toBe(1)
})

test('light and dark are chosen and kept; by itself the system has its way', async () => {
  const { page } = shown.view
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await ground()
  await page.getByRole('button', { name: 'Dark' }).click()
  const dark = await ground()
  expect(dark).not.toBe(light)
  await page.reload()
  await page.locator('[data-node]').first().waitFor()
  expect(await ground()).toBe(dark)
  await page.getByRole('button', { name: 'As the system' }).click()
  expect(await ground()).toBe(light)
})

test('while the API is away it says so, keeps what it knew and asks for nothing; then it goes on', async () => {
  const { page } = shown.view
  shown.bed.loseApi()
  await expect.poll(() => bar().textContent()).toContain('Cannot reach the API server')
  expect(await page.locator('[data-node]').count()).toBe(12)
  expect(await page.getByRole('button', { name: 'Emergency stop' }).getAttribute('aria-disabled')).toBe('true')
  expect(await shown.view.violations()).toEqual([])
  shown.bed.regainApi()
  await expect.poll(() => bar().textContent()).toBe('')
})

test('a link that breaks is said over the foot without moving anything, and comes back by itself', async () => {
  const { page } = shown.view
  const before = await page.locator('[data-node="w1"]').boundingBox()
  await shown.browser.context.setOffline(true)
  shown.bed.console.hub.close()
  await expect.poll(() => bar().textContent()).toContain('does not answer')
  expect(await page.locator('[data-node="w1"]').boundingBox()).toEqual(before)
  await shown.browser.context.setOffline(false)
  const tryNow = page.getByRole('button', { name: 'Try now' })
  // The page may be back by itself before the button is pressed; it is gone with what it was for.
  await tryNow.click({ timeout: 5_000 }).catch(async (error: unknown) => {
    if ((await tryNow.count()) > 0) throw error
  })
  await expect.poll(() => bar().textContent()).toBe('')
})

test('a page with a wrong token says what to do', async () => {
  const page = await shown.browser.context.newPage()
  await page.goto(`http://127.0.0.1:${shown.bed.port}/?token=wrong#/fleet`)
  await page.getByText('There is nothing to show yet').waitFor()
  expect(await page.locator('main').textContent()).toMatch(/Next: /)
  await page.close()
})

test('who may not list something is told what is missing', async () => {
  const poor = await startConsole({ situation: 'blocked', may: (_, resource) => resource !== 'scheduledupdates' })
  const reader = await openPage(shown.browser, poor, 'fleet')
  await expect.poll(() => reader.page.getByRole('note').textContent()).toContain('list scheduledupdates')
  expect(await reader.page.locator('[data-node]').count()).toBe(12)
  await reader.page.close()
  await poor.stop()
})

test('what the first page loads stays under 150 kB packed', async () => {
  const page = await shown.browser.context.newPage()
  const session = await shown.browser.context.newCDPSession(page)
  let bytes = 0
  const files: string[] = []
  await session.send('Network.enable')
  session.on('Network.responseReceived', ({ response }) => files.push(response.url))
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.goto(shown.bed.url)
  await page.locator('[data-node]').first().waitFor()
  expect(files.some((url) => url.endsWith('.js'))).toBe(true)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThan(150_000)
  await page.close()
})
