// Why packages cannot be staged, in the same words for every package manager.

import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Host } from '../../ports/host.ts'
import type { StageResult } from './package-manager.ts'

/** Left free beside what the packages take: logs, the journal, the kubelet. */
const spareBytes = 128 * 1024 * 1024

/** How a sentence about what is not on offer begins. */
export const lacking = 'the host’s repositories do not offer'

export function versionUnknown(name: string, version: string | undefined, offered: readonly string[]): Reason {
  const offer = offered.length === 0 ? 'no version of it at all' : offered.slice(0, 10).join(', ')
  const asked = version === undefined ? name : `${name} ${version}`
  return { code: 'VersionUnknown', message: `${lacking} ${asked}; on offer: ${offer}` }
}

export function packageHeld(names: readonly string[], why: string): Reason {
  return {
    code: 'PackageHeld',
    message: `${names.join(', ')} would have to change but is held back on the host by a person (${why}); release the hold, or leave it out`,
  }
}

export function diskTooFull(why: string): Reason {
  return { code: 'DiskTooFull', message: `not enough room on the host’s disk for the packages: ${why}` }
}

/** A disk that is full while our own small files are written is the same reason. */
export async function unlessDiskFull(stage: () => Promise<StageResult>): Promise<StageResult> {
  try {
    return await stage()
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.code !== 'DiskFull') throw error
    return { ok: false, reason: diskTooFull(error.message) }
  }
}

/** Room for what is still to be fetched into the folder, and for what the installed files take more than now. */
export async function roomMissing(
  host: Host,
  folder: string,
  downloads: readonly { readonly fileName: string; readonly bytes: number }[],
  growthBytes: number,
): Promise<Reason | undefined> {
  const here = new Set(await host.files.names(folder))
  const fetchBytes = downloads.reduce((sum, { fileName, bytes }) => sum + (here.has(fileName) ? 0 : bytes), 0)
  const needs = [
    // Most hosts have one file system for both; where there are two, this asks for a little more than is needed.
    { path: folder, bytes: fetchBytes + growthBytes },
    { path: '/usr', bytes: growthBytes },
  ]
  for (const { path, bytes } of needs) {
    const freeBytes = await host.files.freeBytes(path)
    if (bytes > 0 && freeBytes < bytes + spareBytes) {
      return diskTooFull(`${path} has ${megabytes(freeBytes)} free and ${megabytes(bytes + spareBytes)} are needed`)
    }
  }
  return undefined
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
