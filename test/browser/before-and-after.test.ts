// The pages around a run: Plan before it, Budget & calendar beside it, Backups and History after it.

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { askedByAnnotation } from '../../src/api/audit.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { podDisruptionBudgets } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { openPage } from './page-view.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'blocked' }, 'plan')
const { signal } = new AbortController()

const title = () => shown.view.page.getByRole('heading', { level: 1 }).textContent()
const setPolicy = (spec: object) =>
  shown.bed.person.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)

test('Plan: the form shows the manifest it makes, and breaks no rule of accessibility', async () => {
  const { page } = shown.view
  expect(await title()).toBe('What should be planned?')
  expect(await page.getByRole('button', { name: 'Rehearse it' }).isDisabled()).toBe(true)
  await page.getByLabel('Kubernetes version').fill('v1.36.3')
  await page.getByLabel('Strategy').selectOption('Canary')
  expect(await page.locator('pre').textContent()).toContain('name: to-1-36-3')
  expect(await page.locator('code').textContent()).toBe('slipway plan --kubernetes v1.36.3 --strategy Canary')
  expect(await shown.view.violations()).toEqual([])
})

test('Plan: what cannot be planned is told with its cause and next step, as text', async () => {
  const { page } = shown.view
  await page.getByRole('button', { name: 'Manifest', exact: true }).click()
  await page.getByLabel(/^Manifest of a/).fill('kind: "<img src=x onerror=alert(1)>"')
  await page.getByRole('button', { name: 'Rehearse it' }).click()
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await alert.textContent()).toContain('Next: ')
  expect(await page.locator('img').count()).toBe(0)
  expect(await shown.view.violations()).toEqual([])
  await page.getByRole('button', { name: 'Change it' }).click()
})

test('Plan: a rehearsal can be stopped', async () => {
  const { page } = shown.view
  // One of twelve nodes is over before a hand is at the button: this one is not answered at all.
  await page.route('**/api/plans', () => undefined)
  await page.getByLabel('Kubernetes version').fill('v1.36.3')
  await page.getByRole('button', { name: 'Rehearse it' }).click()
  await page.getByRole('button', { name: 'Stop rehearsing' }).click()
  await expect.poll(title).toBe('What should be planned?')
  await page.unroute('**/api/plans')
})

test('Plan: the verdict, blockers, durations and order of a rehearsal; another address leads back to it', async () => {
  const { page } = shown.view
  // A machine without a network still has its console.
  await page.evaluate("window.dispatchEvent(new Event('offline'))")
  await page.getByRole('button', { name: 'Existing update' }).click()
  await page.getByRole('button', { name: 'Rehearse it' }).click()
  await expect.poll(title).toMatch(/^Plan of to-1-36/)
  await expect.poll(() => page.url()).toMatch(/#\/plan\/.+/)
  for (const part of ['What is in the way', 'How long it takes', 'Order']) {
    expect(await page.getByRole('heading', { name: part }).count()).toBe(1)
  }
  const lengths = page.getByRole('img', { name: /Half of the runs end within/ }).or(page.getByText(/in every run: /))
  expect(await lengths.count()).toBe(1)
  expect(await page.getByRole('table').textContent()).toContain('≈')
  expect(await shown.view.violations()).toEqual([])
  const place = new URL(page.url()).hash.slice(2)
  await shown.view.go('budget')
  await shown.view.go(place)
  expect(await title()).toMatch(/^Plan of to-1-36/)
})

test('Plan: the update of a schedule is planned; what cannot be planned says what can', async () => {
  const { page } = shown.view
  const kindOf = (kind: string) =>
    `apiVersion: slipway.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: nightly }\nspec:\n`
  await shown.view.go('plan/new')
  await page.getByRole('button', { name: 'Manifest', exact: true }).click()
  await page.getByLabel(/^Manifest of a/).fill(`${kindOf('NodeProfile')}  sysctls: {}\n`)
  await page.getByRole('button', { name: 'Rehearse it' }).click()
  await page.getByText('a NodeProfile cannot be planned: plan a DirectUpdate whose spec.profile names it').waitFor()
  await page.getByRole('button', { name: 'Change it' }).click()
  await page.getByRole('button', { name: 'Manifest', exact: true }).click()
  const weekly = '  cron: 0 22 * * 6\n  template: { spec: { kubernetes: { version: v1.36.3 } } }\n'
  await page.getByLabel(/^Manifest of a/).fill(`${kindOf('UpdateSchedule')}${weekly}`)
  await page.getByRole('button', { name: 'Rehearse it' }).click()
  await expect.poll(title, { timeout: 90_000 }).toMatch(/^Plan of nightly/)
  await page.getByText('UpdateSchedule nightly makes this update when its time comes').waitFor()
})

test('Plan: Start is not offered while something is certain to stop it; then it asks again, and creates the update', async () => {
  const { page } = shown.view
  await shown.view.go('plan/new')
  await page.getByLabel('Kubernetes version').fill('v1.36.3')
  await page.getByLabel('Name').fill('once-more')
  await page.getByRole('button', { name: 'Rehearse it' }).click()
  await expect.poll(title).toMatch(/^Plan of once-more/)
  expect(await page.getByRole('button', { name: 'Start now' }).isDisabled()).toBe(true)
  const budget = { namespace: 'shop', name: 'checkout' }
  await shown.bed.person.delete(podDisruptionBudgets, budget, {}, signal)
  await page.getByRole('button', { name: 'Plan again' }).click()
  await page.getByText('Nothing is in its way.').waitFor()
  await page.getByRole('button', { name: 'Start now' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Start it' }).click()
  const created = () => shown.bed.person.get(directUpdates, { name: 'once-more' }, signal)
  await expect.poll(async () => (await created()).spec.kubernetes?.version).toBe('v1.36.3')
  expect((await created()).metadata.annotations?.[askedByAnnotation]).toBe('mira')
  await page.getByRole('link', { name: 'Go to once-more' }).click()
  await expect.poll(() => page.locator('main').textContent()).toContain('asked for by mira')
})

test('Budget: slots, who holds them, seven nights; reasons are shown as text', async () => {
  const { page } = shown.view
  const { spec } = await shown.bed.person.get(maintenancePolicies, { name: policyName }, signal)
  await setPolicy({ freezes: [{ ...spec.freezes?.[0], reason: '<b>sale</b>' }] })
  await shown.view.go('budget')
  expect(await title()).toMatch(/^[1-9] of \d+ slots (is|are) in use/)
  const [holders, schedules] = await page.getByRole('table').all()
  expect(await holders?.textContent()).toContain('to-1-36')
  expect(await schedules?.textContent()).toContain('weekly-certificates')
  await expect.poll(() => page.getByText('Freeze: <b>sale</b>').count()).toBeGreaterThan(0)
  expect(await page.getByText('Times in').textContent()).toContain('UTC')
  expect(await page.getByText(/^\w{3} \d+ to \w{3} \d+: /).count()).toBe(7)
  expect(await page.locator('code').first().textContent()).toBe('kubectl edit maintenancepolicy default')
  expect(await shown.view.violations()).toEqual([])
})

test('Budget: an emergency stop is told of, and ended from there', async () => {
  const { page } = shown.view
  await setPolicy({ paused: true })
  await page.getByText('Emergency stop: nothing new starts').waitFor()
  await page.getByRole('button', { name: 'Go on…', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Go on' }).click()
  await expect
    .poll(async () => (await shown.bed.person.get(maintenancePolicies, { name: policyName }, signal)).spec.paused)
    .toBe(false)
  await expect.poll(() => page.getByText('Emergency stop: nothing').count()).toBe(0)
})

test('Backups: stores, backups and commands; none of them restores by a button', async () => {
  const { page } = shown.view
  await shown.view.go('backups')
  expect(await title()).toMatch(/^The last backup is .* old, checked and stored$/)
  expect(await page.getByRole('heading', { name: 'nightly' }).count()).toBe(1)
  expect(await page.getByRole('table').textContent()).toContain('Hash')
  expect(await page.getByText('slipway backup restore --list').count()).toBe(1)
  expect(await page.getByRole('button', { name: /restore/i }).count()).toBe(0)
  expect(await shown.view.violations()).toEqual([])
})

test('History: runs, a filter, one run with its report to keep', async () => {
  const { page } = shown.view
  await shown.view.go('history')
  await page.getByLabel('Find runs').fill('renew')
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await page.getByRole('link', { name: 'renew-certificates' }).click()
  await expect.poll(() => page.url()).toContain('#/history/')
  // Made without a command of ours: that a program wrote it names nobody.
  expect(await page.locator('main').textContent()).toContain('Asked for byunknown')
  expect(await shown.view.violations()).toEqual([])
  const arriving = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download the report' }).click()
  const download = await arriving
  expect(download.suggestedFilename()).toBe('slipway-renew-certificates.json')
  const report = JSON.parse(await readFile(await download.path(), 'utf8'))
  expect(JSON.stringify(report)).toContain('renew-certificates')
})

test('a page whose files do not arrive says so, harms no other, and can be loaded again', async () => {
  const { page, go } = await openPage(shown.browser, shown.bed, 'budget')
  await page.route('**/history-page*.js', (route) => route.abort())
  await go('history')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This page could not be shown')
  await go('backups')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('backup')
  await page.unrouteAll()
  await go('history')
  const again = page.getByRole('button', { name: 'Load it again' })
  if ((await again.count()) > 0) await again.click()
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toMatch(/runs/)
  await page.close()
})

test('at 900 pixels no page has to be scrolled sideways, and the browser had no complaint', async () => {
  await shown.view.page.setViewportSize({ width: 900, height: 900 })
  for (const place of ['plan', 'plan/new', 'budget', 'backups', 'history']) {
    await shown.view.go(place)
    expect([place, await shown.view.sideways()]).toEqual([place, 0])
  }
  // The manifest that could not be planned was refused on purpose.
  expect(shown.view.complaints.filter((words) => !words.includes('status of 4'))).toEqual([])
})
