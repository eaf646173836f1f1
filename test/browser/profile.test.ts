// A profile that failed on a node while an update is under way: the page says whose the failure is, and tries the profile again.

import { expect, test } from 'vitest'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { nodeProfile } from '../samples/profiles.ts'
import { showPage } from './shown-page.ts'

const shown = showPage({ situation: 'large', nodes: 60, speed: 50 }, 'fleet/w50')
const { signal } = new AbortController()

test('Fleet and Why: retried and released where it failed', async () => {
  const { bed, view } = shown
  const { page } = view
  const since = bed.cluster.clock.now().toISOString()
  const status = { nodes: { total: 60, applied: 59, drifted: 0, failed: 1 } }
  bed.cluster.server.restore(nodeProfiles, {
    ...nodeProfile('base', { sysctls: { 'vm.swappiness': '10' } }),
    status,
  })
  const rollout = {
    ...{ kind: 'NodeProfile', update: 'base', operationID: 'profile:base/1a2b-1', phase: 'Failed', since, attempt: 1 },
    reason: { code: 'StepFailed', message: 'step sysctls failed with exit code 1', since },
  }
  await bed.person.patch(
    nodeStates,
    { name: 'w50' },
    { type: 'merge', body: { status: { rollout } } },
    signal,
    'status',
  )
  const panel = page.getByRole('complementary', { name: 'Node w50' })
  await expect.poll(() => panel.textContent()).toContain('on retry, or when the profile changes')
  expect(await panel.textContent()).toContain('eu-1a, profile base')
  expect(await panel.textContent()).not.toContain('Skip')
  const retry = async () => (await bed.person.get(nodeProfiles, { name: 'base' }, signal)).spec.retry
  await panel.getByRole('button', { name: 'Retry', exact: true }).click()
  await expect.poll(view.outcome).toContain('slipway retry --profile base w50')
  expect((await retry())?.nodes).toEqual(['w50'])
  const before = (await retry())?.token

  await view.go('why')
  await page.getByRole('link', { name: /step sysctls failed/ }).click()
  await expect.poll(() => page.locator('main').textContent()).toContain('profile base')
  expect(await view.violations()).toEqual([])
  await page.getByRole('button', { name: 'Retry node', exact: true }).click()
  await expect.poll(async () => (await retry())?.token).not.toBe(before)
  expect(await page.getByRole('button', { name: 'Release node', exact: true }).count()).toBe(1)
})
