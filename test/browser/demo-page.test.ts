// The page of the demo sends nobody with a command to the cluster of their kubeconfig; that of a cluster does.

import { expect, test } from 'vitest'
import { startConsole } from './console-server.ts'
import { openPage } from './page-view.ts'
import { showPage } from './shown-page.ts'

const command = `[...document.querySelectorAll('code')].find((code) => code.textContent === 'slipway approve to-1-36')`

const shown = showPage({ situation: 'approval', demo: true }, 'why')

test.each([true, false])('a wave that waits for approval, in memory: %s', async (demo) => {
  const bed = demo ? shown.bed : await startConsole({ situation: 'approval' })
  const { page, violations } = demo ? shown.view : await openPage(shown.browser, bed, 'why')
  await page.getByRole('link', { name: /waits for approval/ }).click()
  const said = await page.locator('main p').allTextContents()
  expect(said.join('\n').includes('then: Approve')).toBe(demo)
  expect(said.join('\n').includes('slipway approve to-1-36')).toBe(!demo)
  const before = await page.evaluate(`getComputedStyle(${command}, '::before').content`)
  expect(before).toBe(demo ? '"on a cluster of yours: "' : '"$ "')
  expect(await page.getByRole('button', { name: 'Copy command' }).count()).toBe(demo ? 0 : 1)
  expect(await violations()).toEqual([])
  if (!demo) await bed.stop()
})
