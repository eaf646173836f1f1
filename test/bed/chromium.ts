// Debian's Chromium, driven by playwright-core.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import { execute } from './execute.ts'
import { needHostPackages } from './host-packages.ts'

const usualFlags = [
  ...['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--no-first-run', '--disable-dev-shm-usage'],
]

export interface Browser {
  readonly context: BrowserContext
  close(): Promise<void>
}

/** A browser with an empty profile of its own. */
export async function startBrowser(
  options: {
    readonly width?: number
    readonly height?: number
    readonly dark?: boolean
    readonly flags?: readonly string[]
  } = {},
): Promise<Browser> {
  const { width = 1440, height = 900, dark = false, flags = [] } = options
  const executablePath = await needChromium()
  const profile = await mkdtemp(join(tmpdir(), 'slipway-chromium-'))
  const context = await chromium.launchPersistentContext(profile, {
    ...{ executablePath, args: [...usualFlags, ...flags], headless: true, viewport: { width, height } },
    colorScheme: dark ? 'dark' : 'light',
  })
  return {
    context,
    close: async () => {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
}

async function needChromium(): Promise<string> {
  await needHostPackages({ chromium: 'chromium' })
  return (await execute(['sh', '-c', 'command -v chromium'])).stdout.trim()
}
