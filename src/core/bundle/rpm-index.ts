// The metadata dnf wants beside packages (`repodata`), made from what rpm says of them: hosts have no tool for it.

import type { BundleFile } from '../../api/bundle.ts'

const relations = ['provides', 'requires', 'conflicts', 'obsoletes'] as const
type Relation = (typeof relations)[number]

/** For `rpm --query --package --queryformat`: one line for each thing, its words parted by tabs. */
export const rpmQueryFormat = [
  'package\t%{NAME}\t%{EPOCHNUM}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\t%{SIZE}\t%{BUILDTIME}\n',
  ...relations.map((relation) => {
    const tag = relation.slice(0, -1).toUpperCase()
    return `[${relation}\t%{${tag}NAME}\t%{${tag}FLAGS}\t%{${tag}VERSION}\n]`
  }),
  '[file\t%{FILENAMES}\n]',
].join('')

interface Dependency {
  readonly relation: Relation
  readonly name: string
  readonly flags: number
  readonly version: string
}

export interface RpmLook {
  readonly name: string
  readonly epoch: string
  readonly version: string
  readonly release: string
  readonly architecture: string
  readonly installedBytes: string
  readonly builtAt: string
  readonly dependencies: readonly Dependency[]
  readonly paths: readonly string[]
}

export interface IndexedRpm {
  readonly look: RpmLook
  readonly file: BundleFile
}

/** Undefined where rpm did not speak of one package. */
export function readRpmLook(answer: string): RpmLook | undefined {
  const lines = answer.split('\n').map((line) => line.split('\t'))
  const [head, ...others] = lines.filter(([kind]) => kind === 'package')
  if (!head || others.length > 0 || head.length !== 8) return undefined
  const [, name = '', epoch = '', version = '', release = '', architecture = '', installedBytes = '', builtAt = ''] =
    head
  if (!/^\d+$/.test(epoch)) return undefined
  return {
    ...{ name, epoch, version, release, architecture, installedBytes, builtAt },
    dependencies: lines.flatMap(([kind, of = '', flags = '', at = '']) => {
      const relation = relations.find((each) => each === kind)
      // What rpm itself must be able to do is not a package.
      return relation && !of.startsWith('rpmlib(') ? [{ relation, name: of, flags: Number(flags), version: at }] : []
    }),
    paths: lines.flatMap(([kind, path]) => (kind === 'file' && path !== undefined ? [path] : [])),
  }
}

export function primaryXml(rpms: readonly IndexedRpm[]): string {
  const packages = rpms.map(({ look, file }) =>
    [
      '<package type="rpm">',
      `<name>${escaped(look.name)}</name><arch>${escaped(look.architecture)}</arch>${versionTag(look)}`,
      `<checksum type="sha256" pkgid="YES">${file.sha256}</checksum>`,
      '<summary/><description/><packager/><url/>',
      `<time file="0" build="${escaped(look.builtAt)}"/>`,
      `<size package="${file.bytes}" installed="${escaped(look.installedBytes)}" archive="0"/>`,
      `<location href="${escaped(file.path.slice(file.path.lastIndexOf('/') + 1))}"/>`,
      '<format><rpm:license/><rpm:vendor/><rpm:group/><rpm:buildhost/><rpm:sourcerpm/>',
      '<rpm:header-range start="0" end="0"/>',
      ...relations.map((relation) => relationTag(relation, look.dependencies)),
      ...look.paths.filter(isOftenRequired).map(fileTag),
      '</format></package>',
    ].join('\n'),
  )
  const spaces = 'xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm"'
  return document(`<metadata ${spaces} packages="${rpms.length}">`, packages, '</metadata>')
}

export function fileListsXml(rpms: readonly IndexedRpm[]): string {
  const packages = rpms.map(({ look, file }) => {
    const names = `name="${escaped(look.name)}" arch="${escaped(look.architecture)}"`
    return [
      `<package pkgid="${file.sha256}" ${names}>`,
      versionTag(look),
      ...look.paths.map(fileTag),
      '</package>',
    ].join('\n')
  })
  const space = 'xmlns="http://linux.duke.edu/metadata/filelists"'
  return document(`<filelists ${space} packages="${rpms.length}">`, packages, '</filelists>')
}

/** Names the other two files, with what they are checked by. */
export function repositoryXml(
  parts: readonly { readonly type: 'primary' | 'filelists'; readonly sha256: string; readonly bytes: number }[],
): string {
  const data = parts.map(({ type, sha256, bytes }) =>
    [
      `<data type="${type}">`,
      `<checksum type="sha256">${sha256}</checksum><open-checksum type="sha256">${sha256}</open-checksum>`,
      `<location href="repodata/${type}.xml"/><timestamp>0</timestamp><size>${bytes}</size><open-size>${bytes}</open-size>`,
      '</data>',
    ].join('\n'),
  )
  const space = 'xmlns="http://linux.duke.edu/metadata/repo"'
  return document(`<repomd ${space}>\n<revision>0</revision>`, data, '</repomd>')
}

/** What createrepo puts into the primary file; all others stand in the file lists. */
function isOftenRequired(path: string): boolean {
  return path.startsWith('/etc/') || path.includes('bin/') || path === '/usr/lib/sendmail'
}

function relationTag(relation: Relation, dependencies: readonly Dependency[]): string {
  const entries = dependencies.filter((each) => each.relation === relation).map(entryTag)
  return entries.length === 0 ? '' : `<rpm:${relation}>\n${entries.join('\n')}\n</rpm:${relation}>`
}

/** By rpm's bits for less (2), greater (4) and equal (8). */
const comparisons: Readonly<Record<number, string>> = { 2: 'LT', 4: 'GT', 8: 'EQ', 10: 'LE', 12: 'GE' }

function entryTag({ name, flags, version }: Dependency): string {
  const comparison = comparisons[flags & 14]
  if (comparison === undefined || version === '') return `<rpm:entry name="${escaped(name)}"/>`
  const [, epoch = '0', at = '', release] = /^(?:(\d+):)?([^-]*)(?:-(.*))?$/.exec(version) ?? []
  const rel = release === undefined ? '' : ` rel="${escaped(release)}"`
  return `<rpm:entry name="${escaped(name)}" flags="${comparison}" epoch="${epoch}" ver="${escaped(at)}"${rel}/>`
}

function versionTag({ epoch, version, release }: RpmLook): string {
  return `<version epoch="${epoch}" ver="${escaped(version)}" rel="${escaped(release)}"/>`
}

function fileTag(path: string): string {
  return `<file>${escaped(path)}</file>`
}

function document(head: string, parts: readonly string[], end: string): string {
  return `${['<?xml version="1.0" encoding="UTF-8"?>', head, ...parts, end].join('\n')}\n`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
