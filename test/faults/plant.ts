import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

export const project = fileURLToPath(new URL('../..', import.meta.url))

const loader = new URL('planted-sources.ts', import.meta.url).href

/** How to start Node so that it and those it forks read our sources with these bugs in them. */
export interface Planted {
  readonly flags: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

export async function plant(edits: readonly Edit[]): Promise<Planted> {
  for (const { file, find } of edits) {
    const source = await readFile(join(project, file), 'utf8')
    const places = source.split(find).length - 1
    if (places !== 1) throw new Error(`${file} has "${find}" ${places} times, not once: plant the bug anew`)
  }
  const env = { ...process.env, SLIPWAY_PLANTED: JSON.stringify(edits) }
  return edits.length === 0 ? { flags: [], env: process.env } : { flags: ['--import', loader], env }
}
