// `make release-key KEY=FILE`: makes a key, writes its private half to that file alone, and lets programs built from now on trust it.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { keyIdOf } from '../../adapters/signed-release/release-key.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { printError } from '../../cli/exit-code.ts'
import { streamTerminal } from '../stream-terminal.ts'
import { publicHalf, throwAwayKey } from './signing-key.ts'

const keysPath = 'deploy/release/keys.json'
const file = join(import.meta.dirname, '../../..', keysPath)
const [path] = process.argv.slice(2)

try {
  if (path === undefined || path === '') throw unwritable('no file was named for the private key')
  const { keys } = z.object({ keys: z.array(z.string()) }).parse(JSON.parse(await readFile(file, 'utf8')))
  const key = throwAwayKey()
  // Never over a key that is there.
  await writeFile(path, key.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 }).catch(
    (error: unknown) => {
      throw unwritable(`${path} cannot be made anew`, error)
    },
  )
  await writeFile(file, `${JSON.stringify({ keys: [...keys, publicHalf(key)] }, null, 2)}\n`)
  process.stdout.write(
    [
      `key ${keyIdOf(key)}: private half in ${path}, public half in ${keysPath}`,
      `next: keep ${path} where nobody else reads it; name the key in docs/releasing.md; commit both`,
      '',
    ].join('\n'),
  )
} catch (error) {
  await printError(error, streamTerminal(process.stderr, process.env), !(error instanceof SlipwayError))
  process.exitCode = 1
}

function unwritable(message: string, cause?: unknown): SlipwayError {
  return new SlipwayError('Usage', message, {
    nextStep: 'name a file that is not there yet: make release-key KEY=/safe/place/release-key.pem',
    cause,
  })
}
