// An order that may contact nothing: its bundle is fetched, checked and unpacked before any other driver stages, and laid out
// so that the package manager, the container runtime and the others find their part in it.

import { type BundleManifest, bundleImagesSchema } from '../../../api/bundle.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { partOf } from '../../../core/bundle/bundle-path.ts'
import { manifestName, readManifest } from '../../../core/bundle/manifest.ts'
import type { Bundles } from '../../../ports/bundles.ts'
import type { Download } from '../../../ports/download.ts'
import type { Host } from '../../../ports/host.ts'
import type { Driver, Staging } from '../driver.ts'
import { loadImage } from '../runtime/load-image.ts'
import { indexPackages } from './index-packages.ts'

export interface BundleTools {
  readonly download: Download
  readonly bundles: Bundles
}

const maxBytes = 64 * 1024 ** 3
const maxManifestBytes = 16 * 1024 ** 2
/** Left free beside what is unpacked. */
const spareBytes = 128 * 1024 ** 2
const imagesNote = 'bundle-images'
/** As the kernel names what Kubernetes and Debian call by other names. */
const architectures: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' }

type Unpacked = { readonly manifest: BundleManifest } | { readonly reason: Reason }

/** It has no steps: what it unpacks goes with the order, and images that are with the container runtime disturb nobody. */
export function bundleDriver(tools: BundleTools): Driver {
  return {
    name: 'bundle',
    concerns: ({ work }) => work.bundle !== undefined,
    inspect: () => Promise.resolve({}),
    stage: (staging, signal) => stage(tools, staging, signal),
    steps: () => [],
    undo: { possible: true, steps: () => [] },
  }
}

async function stage(tools: BundleTools, staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, stagingFolder } = staging
  const folder = `${stagingFolder}/bundle`
  const before = await unpackedBefore(host, folder)
  const unpacked = before ? { manifest: before } : await unpack(tools, staging, folder, signal)
  if ('reason' in unpacked) return unpacked.reason
  const { manifest } = unpacked
  return (
    (await foreign(host, manifest, signal)) ??
    (await indexPackages(host, folder, manifest, signal)) ??
    (await importImages(staging, folder, manifest, signal))
  )
}

/** What an earlier call unpacked got its name only when it was checked and safe; here it is seen to be still all there. */
async function unpackedBefore(host: Host, folder: string): Promise<BundleManifest | undefined> {
  const text = await host.files.read(`${folder}/${manifestName}`, maxManifestBytes)
  const judged = text === undefined ? undefined : readManifest(text)
  if (!judged?.ok) return undefined
  for (const { path, bytes } of judged.value.files) {
    const found = await host.files.look(`${folder}/${path}`)
    if (found.kind !== 'file' || found.bytes !== bytes) return undefined
  }
  return judged.value
}

async function unpack(
  { download, bundles }: BundleTools,
  { host, order, stagingFolder }: Staging,
  folder: string,
  signal: AbortSignal,
): Promise<Unpacked> {
  const { bundle } = order.work
  if (!bundle) throw new SlipwayError('Internal', `order ${order.id} has no bundle`)
  await host.disk.makeFolder(stagingFolder)
  const fetched = bundle.url.startsWith('/') ? undefined : `${stagingFolder}/bundle.tar`
  if (fetched !== undefined) {
    const refused = await download.fetch({ ...bundle, to: fetched, mode: 0o600, maxBytes }, signal)
    if (refused) return { reason: refused }
  }
  const file = fetched ?? bundle.url
  const neededBytes = ((await bundles.bytes(file)) ?? 0) + spareBytes
  const freeBytes = await host.files.freeBytes(stagingFolder)
  if (freeBytes < neededBytes) return { reason: tooFull(`${freeBytes} bytes are free, ${neededBytes} are needed`) }
  try {
    const manifest = await bundles.unpack(file, bundle.sha256, folder, signal)
    if (fetched !== undefined) await host.files.remove(fetched)
    return { manifest }
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}

function reasonOf(error: unknown): Reason {
  if (!(error instanceof SlipwayError)) throw error
  const { code, message } = error
  switch (code) {
    case 'BundleMissing':
    case 'BundleBroken':
    case 'ContentMismatch':
      return { code, message }
    case 'DiskFull':
      return tooFull(message)
    default:
      throw error
  }
}

function tooFull(why: string): Reason {
  return { code: 'DiskTooFull', message: `not enough room on the host’s disk to unpack the bundle: ${why}` }
}

async function foreign(host: Host, { architecture }: BundleManifest, signal: AbortSignal): Promise<Reason | undefined> {
  const machine = (await host.run({ argv: ['uname', '-m'] }, signal)).stdout.trim()
  const here = architectures[machine] ?? machine
  if (here === architecture) return undefined
  return {
    code: 'BundleBroken',
    message: `the bundle is for ${architecture}, this host is ${here}; select other nodes`,
  }
}

/** Once: an archive has GBs, and whoever needs an image looks for it again. */
async function importImages(
  staging: Staging,
  folder: string,
  { files }: BundleManifest,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { notes } = staging
  const images = files.map(({ path }) => path).filter((path) => partOf(path) === 'image')
  if (images.length === 0 || (await notes.read(imagesNote, bundleImagesSchema))) return undefined
  for (const path of images) {
    const reason = await loadImage(staging, `${folder}/${path}`, signal)
    if (reason) return reason
  }
  await notes.write(imagesNote, { imported: images })
  return undefined
}
