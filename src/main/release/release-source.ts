import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { ReleaseSource } from './release-papers.ts'

const packageSchema = z.object({ version: z.string(), repository: z.object({ url: z.string() }).optional() })

/** What is checked out in that folder, and whether its files are those of the commit. */
export async function releaseSource(
  repository: string,
): Promise<{ readonly source: ReleaseSource; readonly isClean: boolean }> {
  const git = async (...args: readonly string[]) =>
    (await promisify(execFile)('git', ['-C', repository, ...args]).catch(noHistory)).stdout.trim()
  const { version, repository: published } = packageSchema.parse(
    JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')),
  )
  const committedAt = new Date(await git('show', '--no-patch', '--format=%cI', 'HEAD')).toISOString()
  const source = { version, revision: await git('rev-parse', 'HEAD'), committedAt, repository: published?.url }
  return { source, isClean: (await git('status', '--porcelain')) === '' }
}

function noHistory(error: unknown): never {
  throw new SlipwayError('NotFound', 'a release says which commit it is of, and git does not tell', {
    nextStep: 'make it in a clone, with git installed',
    cause: error,
  })
}
