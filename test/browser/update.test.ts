// The page Update: what it shows of an upgrade that runs, and that its buttons act on the cluster.

import { expect, test } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'approval' }, 'update/to-1-36')
const { signal } = new AbortController()

const spec = async () => (await shown.bed.person.get(directUpdates, { name: 'to-1-36' }, signal)).spec
const press = (name: string | RegExp) => shown.view.page.getByRole('button', { name }).first().click()

test('figures, waves and nodes are shown, and no rule of accessibility is broken', async () => {
  const { page } = shown.view
  await expect.poll(() => page.title()).toContain('to-1-36')
  expect(await page.getByLabel('Figures of this update').textContent()).toContain('of 12 nodes')
  const waves = await page.getByRole('group', { name: 'Waves on a line of time' }).textContent()
  for (const words of ['etcd backup', 'Control plane', 'Wave 3', 'waits for approval', '≈'])
    expect(waves).toContain(words)
  expect(await page.getByLabel('Version path').textContent()).toContain('v1.36.3')
  expect(await shown.view.violations()).toEqual([])
})

test('a node opens with its steps and log; the address says so, Escape closes it, and the link leads back', async () => {
  const { page } = shown.view
  await page.getByRole('link', { name: 'w1', exact: true }).click()
  await expect.poll(() => page.url()).toContain('#/update/to-1-36/w1')
  const drawer = page.getByRole('region', { name: 'Steps and log of w1' })
  await expect.poll(() => drawer.getByRole('list', { name: 'Steps' }).count()).toBe(1)
  const log = drawer.getByRole('log')
  await expect.poll(() => log.textContent()).toMatch(/\w/)
  const whole = await log.textContent()
  const step = drawer.getByRole('list', { name: 'Steps' }).getByRole('button').last()
  await step.click()
  expect(await step.getAttribute('aria-pressed')).toBe('true')
  await expect.poll(() => log.textContent()).not.toBe(whole)
  expect(await shown.view.violations()).toEqual([])
  await page.keyboard.press('Escape')
  await expect.poll(() => page.url()).not.toContain('w1')
  await shown.view.go('update/to-1-36/w1')
  await drawer.waitFor()
  await drawer.getByRole('button', { name: 'Close steps and log' }).click()
})

test('Pause and Resume write what the person wants', async () => {
  await press('Pause')
  await expect.poll(async () => (await spec()).desiredState).toBe('Paused')
  await expect.poll(shown.view.outcome).toContain('slipway pause to-1-36')
  await press('Resume')
  await expect.poll(async () => (await spec()).desiredState).toBe('Running')
})

test('Approve lets the next wave begin, in the person’s name', async () => {
  await press('Approve wave 2')
  await expect.poll(async () => (await spec()).approvals?.map(({ by, wave }) => [by, wave])).toEqual([['mira', 0]])
  await shown.bed.pass(30)
  await expect.poll(() => shown.view.page.getByText('approved by mira').count()).toBeGreaterThan(0)
})

test('Skip asks again, and names the node', async () => {
  await shown.view.go('update/to-1-36/w8')
  await press('Skip…')
  const dialog = shown.view.page.getByRole('alertdialog')
  expect(await dialog.textContent()).toContain('slipway skip to-1-36 w8')
  expect(await shown.view.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Leave it out' }).click()
  await expect.poll(async () => (await spec()).skip).toEqual(['w8'])
  await shown.view.go('update/to-1-36')
})

test('with the window closed it can be run now, which takes a reason', async () => {
  const body = { spec: { windows: [{ days: ['Sun'], start: '22:00', end: '23:00' }] } }
  await shown.bed.person.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
  await press('Run now…')
  const dialog = shown.view.page.getByRole('alertdialog')
  const act = dialog.getByRole('button', { name: 'Run now', exact: true })
  expect(await act.isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('CVE-2026-1 <b>is public</b>')
  await act.click()
  await expect
    .poll(async () => (await spec()).runNow)
    .toMatchObject({ by: 'mira', reason: 'CVE-2026-1 <b>is public</b>' })
})

test('Cancel asks again: going back changes nothing, going on ends the update', async () => {
  await press('Cancel…')
  const dialog = shown.view.page.getByRole('alertdialog')
  await dialog.getByRole('button', { name: 'Go back' }).click()
  expect((await spec()).desiredState).toBe('Running')
  await press('Cancel…')
  await dialog.getByRole('button', { name: 'Cancel the update' }).click()
  await expect.poll(async () => (await spec()).desiredState).toBe('Cancelled')
  await shown.bed.pass(1_200)
  await expect.poll(() => shown.view.page.getByRole('heading', { level: 1 }).textContent()).toContain('Cancelled')
})

test('the selector leads to other updates, and an unknown one says so', async () => {
  const { page } = shown.view
  await page.getByLabel('Which update').selectOption('renew-certificates')
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toContain('renew-certificates')
  await shown.view.go('update/no-such')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('There is no update no-such')
})

test('at 900 pixels nothing has to be scrolled sideways, and the browser had no complaint', async () => {
  await shown.view.page.setViewportSize({ width: 900, height: 900 })
  await shown.view.go('update/to-1-36/w1')
  await shown.view.page.getByRole('region', { name: 'Steps and log of w1' }).waitFor()
  expect(await shown.view.sideways()).toBe(0)
  expect(shown.view.complaints).toEqual([])
})
