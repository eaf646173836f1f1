import { SlipwayError } from '../api/slipway-error.ts'
import { whyUnreadable } from '../core/file-fault.ts'
import type { CliDependencies } from './dependencies.ts'

/** A file that a person named. */
export async function readText(
  { readFile }: Pick<CliDependencies, 'readFile'>,
  path: string,
  nextStep = 'check the path',
): Promise<string> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new SlipwayError('Usage', `${path} cannot be read: ${whyUnreadable(cause)}`, { nextStep, cause })
  }
}
