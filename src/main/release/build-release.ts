// `make release`: everything of a release into dist/release/VERSION. With KEY=FILE, or the key itself in SLIPWAY_RELEASE_KEY, it is for
// others to trust; without, a key made for this once signs it. `make release-image` writes the image alone.

import type { KeyObject } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import releaseKeys from '../../../deploy/release/keys.json' with { type: 'json' }
import { SlipwayError } from '../../api/slipway-error.ts'
import { printError } from '../../cli/exit-code.ts'
import { streamTerminal } from '../stream-terminal.ts'
import { makeRelease, type ReleaseOrder, releaseImage } from './make-release.ts'
import { releaseSource } from './release-source.ts'
import { publicHalf, readSigningKey, signingKey, throwAwayKey } from './signing-key.ts'

const repository = join(import.meta.dirname, '../../..')
const dist = join(repository, 'dist')
const { env } = process

try {
  const { source, isClean } = await releaseSource(repository)
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'slipway/release-inputs')
  const debianMirror = env.DEBIAN_MIRROR || 'http://deb.debian.org'
  const order = { repository, dist, source, sources: { cache, debianMirror } }
  await (process.argv.includes('--image') ? imageAlone(order) : wholeRelease(order, isClean))
} catch (error) {
  await printError(error, streamTerminal(process.stderr, env), !(error instanceof SlipwayError))
  process.exitCode = 1
}

async function imageAlone(order: ReleaseOrder): Promise<void> {
  const { archive, digest } = await releaseImage(order)
  await mkdir(join(dist, 'image'), { recursive: true })
  const path = `dist/image/slipway-${order.source.version}-image.tar`
  await writeFile(join(repository, path), archive)
  process.stdout.write(`${path}: slipway:${order.source.version}@${digest}, for amd64 and arm64\n`)
}

async function wholeRelease(order: ReleaseOrder, isClean: boolean): Promise<void> {
  const folder = `dist/release/${order.source.version}`
  const given = await givenKey()
  if (given) refuseUnlessPublishable(given, isClean)
  const key = given ?? throwAwayKey()
  await makeRelease(order, key, join(repository, folder))
  if (given) {
    process.stdout.write(`${folder}: signed; check it with: slipway verify ${folder}\n`)
    return
  }
  const path = 'dist/release/throw-away-key.pem'
  await writeFile(join(repository, path), publicHalf(key))
  process.stdout.write(`${folder}: for nobody but you; check it with: slipway verify ${folder} --key ${path}\n`)
}

async function givenKey(): Promise<KeyObject | undefined> {
  if (env.SLIPWAY_RELEASE_KEY) return signingKey(env.SLIPWAY_RELEASE_KEY, 'SLIPWAY_RELEASE_KEY')
  return env.KEY ? await readSigningKey(env.KEY) : undefined
}

function refuseUnlessPublishable(key: KeyObject, isClean: boolean): void {
  const { keys }: { readonly keys: readonly string[] } = releaseKeys
  if (!keys.includes(publicHalf(key))) {
    throw new SlipwayError('Refused', 'no program would trust this key: deploy/release/keys.json does not have it', {
      nextStep: 'sign with a key that make release-key made, or leave KEY out for a release of your own',
    })
  }
  if (!isClean) {
    throw new SlipwayError('Refused', 'the files here are not those of the commit', {
      nextStep: 'commit or take back what git status shows',
    })
  }
}
