// A small copy of the house's rules in a folder of its own, where a test may plant faults and see what the linter says.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'

export const repository = join(import.meta.dirname, '../..')

export interface Finding {
  readonly file: string
  readonly rule: string
  readonly message: string
}

const reportSchema = z.object({
  diagnostics: z.array(
    z.object({
      category: z.string().nullable(),
      severity: z.string(),
      message: z.string(),
      location: z.object({ path: z.string().nullish() }).nullish(),
    }),
  ),
})

/** Lints `files` (path to content) under the repository's own rules. */
export async function lintPlanted(files: Readonly<Record<string, string>>): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-planted-'))
  try {
    for (const name of ['biome.json', 'lint', 'package.json', 'tsconfig.json']) {
      await cp(join(repository, name), join(folder, name), { recursive: true })
    }
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    return await lint(folder, ['.'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function lint(folder: string, paths: readonly string[]): Promise<readonly Finding[]> {
  const biome = join(repository, 'node_modules/.bin/biome')
  const argv = ['lint', '--reporter=json', '--max-diagnostics=none', '--colors=off', ...paths]
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(biome, argv, { cwd: folder, maxBuffer: 64 << 20 }, (error, output, complaint) => {
      // Findings make it exit with 1; anything it could not do at all leaves no report.
      if (error !== null && output === '') reject(new Error(`biome: ${complaint}`, { cause: error }))
      else resolve(output)
    })
  })
  return reportSchema.parse(JSON.parse(stdout)).diagnostics.map((diagnostic) => ({
    file: diagnostic.location?.path ?? '',
    rule: diagnostic.category ?? '',
    message: diagnostic.message,
  }))
}
