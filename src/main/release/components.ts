// What a release has of others: the npm packages that were bundled, Node, and the Debian packages of the image.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { SlipwayError } from '../../api/slipway-error.ts'
import { architectures, type ReleaseInputs } from './release-inputs.ts'

export interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  /** As SPDX writes it. */
  readonly licence: string
  readonly digest: { readonly algorithm: 'sha256' | 'sha512'; readonly hex: string }
}

const sourceMapSchema = z.object({ sources: z.array(z.string()) })
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional(), license: z.string().optional() }),
  ),
})

export async function componentsOf(
  repository: string,
  dist: string,
  inputs: ReleaseInputs,
): Promise<readonly Component[]> {
  const lock = lockSchema.parse(JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')))
  const bundled = [...(await bundledPackages(dist))].toSorted().map((path) => {
    const { version, integrity, license } = lock.packages[path] ?? {}
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (version === undefined || integrity === undefined || license === undefined) throw unlisted(path)
    return npmComponent(name, version, license, integrity)
  })
  const { node, debian } = inputs
  return [
    ...bundled,
    ...architectures.flatMap((architecture) => {
      const { name, integrity } = node.packages[architecture]
      return [
        npmComponent(name, node.version, node.licence, integrity),
        ...debian.packages[architecture].map((each): Component => {
          const qualifiers = `arch=${architecture}&distro=${debian.suite}`
          const purl = `pkg:deb/debian/${encodeURIComponent(each.name)}@${encodeURIComponent(each.version)}?${qualifiers}`
          const digest = { algorithm: 'sha256', hex: each.sha256 } as const
          return { name: each.name, version: each.version, purl, licence: each.licence, digest }
        }),
      ]
    }),
  ]
}

/** Their places in node_modules, by what the source maps say went in. */
async function bundledPackages(dist: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const maps = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.map'))
  if (maps.length === 0) {
    throw new SlipwayError('NotFound', `${dist} has no source maps, so nobody can tell what went in`, {
      nextStep: 'build with source maps: make build',
    })
  }
  for (const map of maps) {
    const { sources } = sourceMapSchema.parse(JSON.parse(await readFile(join(dist, map), 'utf8')))
    for (const source of sources) {
      const path = /(?:^|\/)((?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+)/.exec(source)?.[1]
      if (path !== undefined) found.add(path.slice(0, -1))
    }
  }
  return found
}

function npmComponent(name: string, version: string, licence: string, integrity: string): Component {
  const hex = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { name, version, purl, licence, digest: { algorithm: 'sha512', hex } }
}

function unlisted(path: string): SlipwayError {
  return new SlipwayError(
    'NotFound',
    `${path} went into the program, but package-lock.json does not tell its version, digest and licence`,
    {
      nextStep: 'install what package-lock.json says (npm ci), then build again',
    },
  )
}
