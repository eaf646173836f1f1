// Buttons that only some situations offer: each is pressed, what it asks for arrives in the cluster, and the page shows what came
// of it. Those that are there in every upgrade are pressed in the tests of their pages.

import { expect, test } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { holdOf } from '../../src/core/node/node-marks.ts'
import { holdingPatch } from '../../src/core/steering/hold-node.ts'
import { type ConsoleBed, startConsole } from './console-server.ts'
import { openPage, type PageView } from './page-view.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'failed' }, 'update/again')
const { signal } = new AbortController()

const specOf = async ({ person }: ConsoleBed, name: string) => (await person.get(directUpdates, { name }, signal)).spec
const title = ({ page }: PageView) => page.getByRole('heading', { level: 1 }).textContent()
const press = ({ page }: PageView, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true }).first().click()

test('Update: an update that failed is tried again, and fails again while its cause is there', async () => {
  const { bed, view } = shown
  expect(await title(view)).toContain('Failed')
  await press(view, 'Retry failed')
  await expect.poll(view.outcome).toContain('slipway retry again')
  await expect.poll(async () => (await specOf(bed, 'again')).retry?.token).toMatch(/^\w{8}$/)
  await bed.pass(1)
  await expect.poll(() => title(view)).not.toContain('Failed')
  await bed.pass(600)
  await expect.poll(() => title(view)).toContain('Failed')
})

test('Why: the node that failed is the cause, leads to its log, and is tried again by itself', async () => {
  const { bed, view } = shown
  const before = (await specOf(bed, 'again')).retry?.token
  await view.go('why')
  await view.page.getByRole('link', { name: /Step failed/ }).click()
  expect(await view.page.getByRole('link', { name: 'Steps and log' }).getAttribute('href')).toBe('#/update/again/w2')
  await press(view, 'Retry node')
  await expect.poll(view.outcome).toContain('slipway retry again w2')
  const retry = async () => (await specOf(bed, 'again')).retry
  await expect.poll(async () => (await retry())?.nodes).toEqual(['w2'])
  expect((await retry())?.token).not.toBe(before)
})

test('Fleet: the node is tried again from its panel; with its cause gone the update ends', async () => {
  const { bed, view } = shown
  await bed.pass(600)
  await view.go('fleet/w2')
  const panel = view.page.getByRole('complementary', { name: 'Node w2' })
  await expect.poll(() => panel.textContent()).toContain('on retry or skip')
  bed.repair()
  await press(view, 'Retry')
  await expect.poll(view.outcome).toContain('slipway retry again w2')
  await bed.pass(1_800)
  await expect.poll(() => panel.textContent()).toContain('Done')
  await view.go('update/again')
  await expect.poll(() => title(view)).toContain('Succeeded')
})

test('Why: hold, skip, resume, run now and release, each at the cause it answers', async () => {
  const bed = await startConsole({ situation: 'blocked', nodes: 14 })
  const view = await openPage(shown.browser, bed, 'why')
  const { page } = view
  const open = async (cause: RegExp) => {
    await view.go('why')
    await page.getByRole('link', { name: cause }).first().click()
  }
  const spec = () => specOf(bed, 'to-1-36')

  await open(/PodDisruptionBudget/)
  // How many of them drain at this moment is not what this is about.
  await press(view, /^Hold (these nodes|node)$/)
  await expect.poll(view.outcome).toContain('slipway hold ')
  const name = /slipway hold ([\w-]+)/.exec((await view.outcome()) ?? '')?.[1] ?? ''
  const heldBy = async (node: string) => holdOf(await bed.person.get(nodes, { name: node }, signal))
  expect(await heldBy(name)).toContain('mira')
  await press(view, /^Skip (these nodes|node)…$/)
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Leave (it|them) out$/ })
    .click()
  await expect.poll(async () => (await spec()).skip).toContain(name)

  const pausing = { type: 'merge', body: { spec: { desiredState: 'Paused' } } } as const
  await bed.person.patch(directUpdates, { name: 'to-1-36' }, pausing, signal)
  await open(/is paused/)
  await press(view, 'Resume to-1-36')
  await expect.poll(async () => (await spec()).desiredState).toBe('Running')
  await expect.poll(() => page.locator('main').textContent()).toContain('This cause is gone')

  const closing = {
    type: 'merge',
    body: { spec: { windows: [{ days: ['Sun'], start: '22:00', end: '23:00' }] } },
  } as const
  await bed.person.patch(maintenancePolicies, { name: policyName }, closing, signal)
  await bed.pass(120)
  await open(/Outside window/)
  await press(view, 'Run now…')
  const dialog = page.getByRole('alertdialog')
  expect(await dialog.getByRole('button', { name: 'Run now', exact: true }).isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('the patch cannot wait')
  await dialog.getByRole('button', { name: 'Run now', exact: true }).click()
  await expect.poll(async () => (await spec()).runNow).toMatchObject({ by: 'mira', reason: 'the patch cannot wait' })
  // Which of them wait at this moment is not what this is about either.
  const { nodes: listed = [] } = (await bed.person.get(directUpdates, { name: 'to-1-36' }, signal)).status ?? {}
  const waiting = listed.find(({ phase }) => phase === 'Pending')?.name ?? ''
  const keeping = { type: 'merge', body: holdingPatch({ by: 'ben', at: '2026-01-05T08:00:00Z' }) } as const
  await bed.person.patch(nodes, { name: waiting }, keeping, signal)
  await bed.pass(30)
  await view.go('why')
  await expect.poll(() => page.getByRole('link', { name: /Outside window/ }).count()).toBe(0)

  await open(/Node on hold/)
  expect(await view.violations()).toEqual([])
  await press(view, 'Release')
  await expect.poll(view.outcome).toContain(`slipway release ${waiting}`)
  await expect.poll(() => heldBy(waiting)).toBeUndefined()
  await page.close()
  await bed.stop()
})

const reading = (verb: string) => verb === 'list' || verb === 'watch' || verb === 'get'

/** It says so before it is pressed and after; nothing is asked. */
async function refuses(view: PageView, name: string | RegExp, right: string): Promise<void> {
  const button = view.page.getByRole('button', { name }).first()
  await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true')
  expect(await button.getAttribute('title')).toBe(right)
  await button.click({ force: true })
  await expect.poll(view.outcome).toContain(right)
  expect(await view.page.getByRole('alertdialog').count()).toBe(0)
}

test('who may only look is told at every button which right is missing, and nothing is written', async () => {
  const bed = await startConsole({ situation: 'approval', may: reading })
  const view = await openPage(shown.browser, bed, 'update/to-1-36')
  const { page } = view
  const before = await specOf(bed, 'to-1-36')
  const steer = 'needs the right patch directupdates.slipway.dev, create directupdates.slipway.dev'
  const approve = 'needs the right patch directupdates.slipway.dev, update directupdates.slipway.dev/approval'
  await refuses(view, 'Pause', steer)
  await refuses(view, 'Cancel…', steer)
  await refuses(view, /^Approve wave/, approve)
  expect(await page.locator('main').textContent()).toContain(`mira may not pause, cancel, approve: ${steer}, update`)
  expect(await view.sideways()).toBe(0)
  expect(await view.violations()).toEqual([])
  await refuses(view, 'Emergency stop', 'needs the right patch maintenancepolicies.slipway.dev')
  await view.go('why')
  await page.getByRole('link', { name: /waits for approval/ }).click()
  await refuses(view, 'Approve to-1-36', approve)
  expect(await specOf(bed, 'to-1-36')).toEqual(before)
  await page.close()
  await bed.stop()
})

test('who may only look can plan, and is told what it takes to start', async () => {
  const bed = await startConsole({ situation: 'fresh', may: reading })
  const view = await openPage(shown.browser, bed, 'plan/new')
  await view.page.getByLabel('Kubernetes version').fill('v1.36.3')
  await view.page.getByRole('button', { name: 'Rehearse it' }).click()
  await expect.poll(() => title(view), { timeout: 90_000 }).toMatch(/^Plan of to-1-36-3/)
  await refuses(view, 'Start now', 'needs the right create directupdates.slipway.dev')
  await view.page.close()
  await bed.stop()
})
