// The manifest of a bundle: read with suspicion, written the same for the same files.

import { type BundleManifest, bundleFormat, bundleManifestSchema } from '../../api/bundle.ts'
import { pathFault } from './bundle-path.ts'

export const manifestName = 'manifest.json'

export type Judged<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string }

export function manifestText(manifest: BundleManifest): string {
  return `${JSON.stringify(manifest, undefined, 1)}\n`
}

export function readManifest(text: string): Judged<BundleManifest> {
  const found = jsonOf(text)
  const format = formatOf(found)
  if (typeof format === 'number' && format !== bundleFormat) {
    return refused(`its format is ${format}; this program knows format ${bundleFormat}`)
  }
  const parsed = bundleManifestSchema.safeParse(found)
  if (!parsed.success) return refused(`its ${manifestName} is not one: ${parsed.error.issues[0]?.message ?? ''}`)
  const fault = filesFault(parsed.data)
  return fault === undefined ? { ok: true, value: parsed.data } : refused(fault)
}

/** Ascending paths: each once, and the same files give the same bundle. */
function filesFault({ files }: BundleManifest): string | undefined {
  let before = ''
  for (const { path } of files) {
    const fault = pathFault(path)
    if (fault !== undefined) return fault
    if (path <= before) return `its ${manifestName} names ${path} twice or out of order`
    before = path
  }
  return undefined
}

function refused(fault: string): { readonly ok: false; readonly fault: string } {
  return { ok: false, fault }
}

function formatOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
