// Before the tests in a browser: the page as it is in the sources now, built once for all of them.

import { readdir, stat } from 'node:fs/promises'
import { build } from 'vite'

const root = new URL('../../', import.meta.url).pathname

export async function setup(): Promise<void> {
  const built = await stat(`${root}dist/console/index.html`).catch(() => undefined)
  if (built && built.mtimeMs > (await newestSource())) return
  // Vitest says `test`, and React would bring its tools for developers along: the page measured is the one shipped.
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  await build({ configFile: `${root}console.vite.config.ts`, logLevel: 'warn' })
  process.env.NODE_ENV = before
}

async function newestSource(): Promise<number> {
  const entries = await readdir(`${root}src/console`, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`)
  const times = await Promise.all(
    [...paths, `${root}console.vite.config.ts`, `${root}src/api/console.ts`].map((path) => stat(path)),
  )
  return Math.max(...times.map(({ mtimeMs }) => mtimeMs))
}
