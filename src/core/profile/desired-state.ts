// One host's desired state from all the profiles that select it.

import { type DesiredFile, type DesiredState, type DesiredSysctl, desiredFormat } from '../../api/desired-state.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { Reason } from '../../api/reason.ts'
import { canonicalJson } from '../fingerprint.ts'
import { selects } from '../label-selector.ts'
import { type Settled, settle, type Wish } from './settle.ts'
import { isSysctlFile, plainFile, sysctlPath, type Wishes } from './wishes.ts'

export type Computed =
  | { readonly ok: true; readonly state: DesiredState; readonly text: string }
  | { readonly ok: false; readonly reason: Reason; readonly profiles: readonly string[] }

/** A ConfigMap holds 1 MiB; the rest is room for its metadata. */
const textBytes = 900 * 1024

/** A profile that is being deleted wants nothing any more. */
export function matching(
  profiles: Iterable<NodeProfile>,
  labels: Readonly<Record<string, string>> | undefined,
): readonly NodeProfile[] {
  return [...profiles]
    .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && selects(spec.nodeSelector, labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

export function desiredState(wishes: readonly Wishes[]): Computed {
  const repositories = settle(wishes.flatMap((one) => one.repositories))
  const packages = settle(wishes.flatMap((one) => one.packages))
  const units = settle(wishes.flatMap((one) => one.units))
  const sysctls = settle(wishes.flatMap((one) => one.sysctls))
  const kernelArguments = settle(wishes.flatMap((one) => one.kernelArguments))
  const files = settle([
    ...wishes.flatMap((one) => one.files),
    ...(sysctls.ok ? sysctlFiles(sysctls.items, wishes) : []),
  ])
  const taken = takenPath(wishes)
  if (taken) return taken
  const failed = [repositories, packages, files, units, sysctls, kernelArguments].find((part) => !part.ok)
  if (failed && !failed.ok) return failed
  const state: DesiredState = {
    format: desiredFormat,
    repositories: itemsOf(repositories),
    packages: itemsOf(packages),
    files: itemsOf(files),
    units: itemsOf(units),
    sysctls: itemsOf(sysctls),
    kernelArguments: itemsOf(kernelArguments),
  }
  return nestedPath(state.files) ?? withText(state)
}

function itemsOf<T>(settled: Settled<T>): (T & { profile: string; whenRemoved: 'Restore' | 'Keep' })[] {
  return settled.ok ? [...settled.items] : []
}

/** One file for each profile, so that a person sees who wants what; a key stands only where it won. */
function sysctlFiles(
  winners: readonly DesiredSysctl[],
  wishes: readonly Wishes[],
): readonly Wish<Omit<DesiredFile, 'profile' | 'whenRemoved'>>[] {
  const files = new Map<string, { readonly wish: Wish<unknown>; readonly lines: string[] }>()
  for (const { key, value, profile } of winners) {
    const wish = wishes.flatMap((one) => one.sysctls).find(({ origin }) => origin.profile === profile)
    if (!wish) continue
    const file = files.get(profile) ?? { wish, lines: [] }
    file.lines.push(`${key} = ${value}`)
    files.set(profile, file)
  }
  return [...files].map(([profile, { wish, lines }]) => {
    const path = sysctlPath(profile)
    const content = `# Managed by Slipway: NodeProfile ${profile}\n${lines.join('\n')}\n`
    return { item: `file ${path}`, value: plainFile(path, content, []), origin: wish.origin, priority: wish.priority }
  })
}

function takenPath(wishes: readonly Wishes[]): Computed | undefined {
  const taken = wishes.flatMap((one) => one.files).find(({ value }) => isSysctlFile(value.path))
  if (!taken) return undefined
  const { profile } = taken.origin
  const message = `NodeProfile ${profile} wants ${taken.item}, which Slipway writes itself from sysctls: use spec.sysctls`
  return { ok: false, reason: { code: 'ProfileConflict', message }, profiles: [profile] }
}

/** A path cannot be a file and the folder of another file at once. */
function nestedPath(files: readonly DesiredFile[]): Computed | undefined {
  const paths = new Map(files.map((file) => [file.path, file]))
  for (const file of files) {
    for (let folder = parent(file.path); folder !== ''; folder = parent(folder)) {
      const other = paths.get(folder)
      if (!other) continue
      const profiles = [...new Set([other.profile, file.profile])]
      const message = `${other.path} (NodeProfile ${other.profile}) cannot be a file, since ${file.path} (NodeProfile ${file.profile}) lies in it`
      return { ok: false, reason: { code: 'ProfileConflict', message }, profiles }
    }
  }
  return undefined
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function withText(state: DesiredState): Computed {
  const text = canonicalJson(state)
  // Four bytes at most for a UTF-16 unit and its escape; exact where it matters, since profiles are mostly plain text.
  const bytes = [...text].reduce((sum, letter) => sum + (letter > '\u007f' ? 4 : 1), 0)
  if (bytes <= textBytes) return { ok: true, state, text }
  const largest = [...state.files].sort((a, b) => sizeOf(b) - sizeOf(a))[0]
  const message = `the profiles want ${Math.ceil(bytes / 1024)} KiB of one node, ${textBytes / 1024} KiB is the most; the largest file is ${largest?.path ?? 'none'}`
  const profiles = [...new Set(state.files.map(({ profile }) => profile))]
  return { ok: false, reason: { code: 'ProfileTooLarge', message }, profiles }
}

function sizeOf({ content, sealed }: DesiredFile): number {
  return (content ?? sealed?.text ?? '').length
}
