import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** Each with what it says, in the order of the table. */
export const properties = {
  verified: 'verified by looking',
  idempotent: 'twice',
  killed: 'killed in the middle',
  powerLoss: 'power loss',
  undo: 'undo',
} as const

export type Property = keyof typeof properties

const resultSchema = z.strictObject({
  name: z.string(),
  driver: z.string(),
  /** The command line that was there, and the first line it said about its version. */
  tool: z.string().optional(),
  /** What was seen: how often, or why it does not apply; absent = it failed or was not run. */
  seen: z.partialRecord(z.enum(Object.keys(properties) as [Property, ...Property[]]), z.string()),
})

export type ConformanceResult = z.infer<typeof resultSchema>

const folder = join(import.meta.dirname, '../../.cache/conformance')

export async function keepResult(result: ConformanceResult): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${result.name.replaceAll(/[^a-z0-9]+/g, '-')}.json`), `${JSON.stringify(result)}\n`)
}

/** Of all cases that were run since the folder was emptied. */
export async function keptResults(): Promise<readonly ConformanceResult[]> {
  const names = await readdir(folder).catch(() => [])
  const texts = await Promise.all(names.toSorted().map((name) => readFile(join(folder, name), 'utf8')))
  return texts.map((text) => resultSchema.parse(JSON.parse(text)))
}
