// The list of dnf's versionlock. Its own entries are `kubelet-0:1.35.4-150500.1.1.*`; people write others by hand or with --raw, in
// any form in which dnf takes a package, with `*`.

import { globPattern } from '../match-version.ts'
import type { InstalledPackage } from '../package-manager.ts'

type Rpm = Pick<InstalledPackage, 'name' | 'version' | 'architecture'>

/** Comments are left out, and so is what excludes a version and holds nothing: `!…`. */
export function parseLocks(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^[#!]/.test(line))
}

/** Whether it holds the installed package: by its name where the lock is a whole one, of whatever version. */
export function isLockOf(lock: string, rpm: Rpm): boolean {
  const whole = /^(.+)-[0-9]+:[^-]+-[^-]+$/.exec(lock)?.[1]
  if (whole !== undefined && globPattern(whole).test(rpm.name)) return true
  const pattern = globPattern(lock)
  return formsOf(rpm).some((form) => pattern.test(form))
}

function formsOf({ name, version: text, architecture }: Rpm): readonly string[] {
  const [, epoch = '0', version = '', release = ''] = /^(?:([0-9]+):)?([^-]*)-(.*)$/.exec(text) ?? []
  const versions = [version, `${version}-${release}`, `${epoch}:${version}`, `${epoch}:${version}-${release}`]
  const forms = [name, ...versions.map((each) => `${name}-${each}`), `${epoch}:${name}-${version}-${release}`]
  return forms.flatMap((form) => [form, `${form}.${architecture}`])
}
