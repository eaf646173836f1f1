// The files that make a repository of a NodeProfile known to apt and to dnf.

import { SlipwayError } from '../../api/slipway-error.ts'
import type { Repository, RepositoryFile } from './package-manager.ts'

const isArmoured = (key: string) => key.trimStart().startsWith('-----BEGIN PGP PUBLIC KEY BLOCK-----')

/** A deb822 file and, for a key given as text, its key file: apt before 2.4 takes no key inside a list. */
export function aptRepositoryFiles({ name, apt }: Repository): readonly RepositoryFile[] {
  if (!apt) return []
  checkName(name)
  const keyPath = `/etc/apt/keyrings/slipway-${name}.asc`
  const ownKey = isArmoured(apt.signedBy)
  const suites = apt.suites.join(' ')
  const lines = [
    'Types: deb',
    `URIs: ${apt.uris.join(' ')}`,
    `Suites: ${suites}`,
    ...(apt.components?.length ? [`Components: ${apt.components.join(' ')}`] : []),
    `Signed-By: ${ownKey ? keyPath : apt.signedBy}`,
  ]
  checkLines(name, lines)
  return [
    ...(ownKey ? [{ path: keyPath, content: ended(apt.signedBy) }] : []),
    { path: `/etc/apt/sources.list.d/slipway-${name}.sources`, content: `${lines.join('\n')}\n` },
  ]
}

export function dnfRepositoryFiles({ name, dnf }: Repository): readonly RepositoryFile[] {
  if (!dnf) return []
  checkName(name)
  const keyPath = `/etc/pki/rpm-gpg/RPM-GPG-KEY-slipway-${name}`
  const ownKey = isArmoured(dnf.gpgkey)
  const key = ownKey ? keyPath : dnf.gpgkey
  const lines = [
    `[slipway-${name}]`,
    `name=${name}`,
    `baseurl=${dnf.baseurl}`,
    'enabled=1',
    'gpgcheck=1',
    `gpgkey=${key.startsWith('/') ? `file://${key}` : key}`,
  ]
  checkLines(name, lines)
  return [
    ...(ownKey ? [{ path: keyPath, content: ended(dnf.gpgkey) }] : []),
    { path: `/etc/yum.repos.d/slipway-${name}.repo`, content: `${lines.join('\n')}\n` },
  ]
}

/** The name becomes part of a path. */
function checkName(name: string): void {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) return
  throw new SlipwayError('Refused', `repository name "${name}" is not made of lower-case letters, digits and -`)
}

/** A value with a line end could add fields of its own. */
function checkLines(name: string, lines: readonly string[]): void {
  const bad = lines.find((line) => /[\r\n]/.test(line))
  if (bad !== undefined) throw new SlipwayError('Refused', `repository ${name} has a value that goes over a line end`)
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
