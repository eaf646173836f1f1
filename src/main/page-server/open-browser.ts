import { spawn } from 'node:child_process'

const openers: Readonly<Record<string, string>> = { darwin: 'open', linux: 'xdg-open' }

/** False where this machine has no such program. */
export function openBrowser(url: string, platform: string): Promise<boolean> {
  const opener = openers[platform]
  if (opener === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
