// A release: every file somebody installs from, what they are made of, their sums, and a signature over these. The same commit and
// the same inputs give the same bytes, wherever it is made.

import { execFile } from 'node:child_process'
import { createHash, type KeyObject, sign } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { releaseFileNames, signatureName, sumsName } from '../../api/signed-release.ts'
import { sumsText } from '../../core/signed-release/sums.ts'
import { renderDefinitions } from '../crd/render-definitions.ts'
import { hostBundle, hostBundleName } from '../host-bundle/host-bundle.ts'
import { indexedImage } from '../image/image-archive.ts'
import { programFiles } from '../image/image-files.ts'
import { slipwayImage } from '../image/slipway-image.ts'
import { chartPackage } from './chart-package.ts'
import { componentsOf } from './components.ts'
import { fetchInputs, type InputSources } from './fetch-inputs.ts'
import { type ReleaseBase, releaseBase } from './release-base.ts'
import { type Architecture, type ReleaseInputs, readReleaseInputs } from './release-inputs.ts'
import { provenanceText, type ReleaseSource, sbomText } from './release-papers.ts'

export interface ReleaseOrder {
  readonly repository: string
  /** What `make build` made. */
  readonly dist: string
  readonly source: ReleaseSource
  readonly sources: InputSources
}

export interface ReleaseImage {
  readonly archive: Buffer
  readonly digest: string
  readonly bases: Readonly<Record<Architecture, ReleaseBase>>
}

/** For both architectures, under one index. */
export async function releaseImage({ repository, dist, source, sources }: ReleaseOrder): Promise<ReleaseImage> {
  const inputs = await readReleaseInputs(repository)
  const program = await programFiles(dist, 'opt/slipway')
  const bases = { amd64: await base(inputs, 'amd64', sources), arm64: await base(inputs, 'arm64', sources) }
  const image = (architecture: Architecture) =>
    slipwayImage(source.version, {
      architecture,
      layers: [bases[architecture].layer, program],
      labels: {
        'org.opencontainers.image.revision': source.revision,
        ...(source.repository && { 'org.opencontainers.image.source': source.repository }),
      },
    })
  return { ...indexedImage([image('amd64'), image('arm64')]), bases }
}

async function base(inputs: ReleaseInputs, architecture: Architecture, sources: InputSources): Promise<ReleaseBase> {
  return await releaseBase(await fetchInputs(inputs, architecture, sources), inputs.debian.release)
}

/** Writes it into that folder, which gets its name when all of it is there. */
export async function makeRelease(order: ReleaseOrder, key: KeyObject, folder: string): Promise<void> {
  const { repository, dist, source } = order
  const { version } = source
  const { archive, digest, bases } = await releaseImage(order)
  const files = new Map<string, Buffer>([[`slipway-${version}-image.tar`, archive]])
  for (const architecture of ['amd64', 'arm64'] as const) {
    const { node, nodeLicence } = bases[architecture]
    const bundle = await hostBundle({ repository, dist, version, architecture, node, nodeLicence })
    files.set(`${hostBundleName(version, architecture)}.tar.gz`, bundle)
  }
  files.set(`slipway-${version}.tgz`, await chartPackage(join(repository, 'deploy/chart'), version))
  files.set(`slipway-${version}-crds.yaml`, Buffer.from([...renderDefinitions().values()].join('---\n')))
  files.set(`slipway-${version}-manifests.yaml`, Buffer.from(await printedInstallation(dist)))
  const components = await componentsOf(repository, dist, await readReleaseInputs(repository))
  files.set(releaseFileNames.sbom(version), Buffer.from(sbomText(source, components)))
  const image = { reference: `slipway:${version}`, digest }
  const provenance = provenanceText({ source, components, files: sumsOf(files), image })
  files.set(releaseFileNames.provenance(version), Buffer.from(provenance))
  const sums = Buffer.from(sumsText(sumsOf(files)))
  files.set(sumsName, sums)
  files.set(signatureName, sign(null, sums, key))
  await writeWhole(folder, files)
}

function sumsOf(files: ReadonlyMap<string, Buffer>) {
  return [...files]
    .map(([name, content]) => ({ name, sha256: createHash('sha256').update(content).digest('hex') }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** By the program that ships. */
async function printedInstallation(dist: string): Promise<string> {
  const args = [join(dist, 'slipway.mjs'), 'install', '--print']
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 25, env: {} })
  return stdout
}

async function writeWhole(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const fresh = await mkdtemp(`${folder}.new-`)
  try {
    for (const [name, content] of files) await writeFile(join(fresh, name), content)
    await chmod(fresh, 0o755)
    await rm(folder, { recursive: true, force: true })
    await rename(fresh, folder)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}
