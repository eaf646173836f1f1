// The index apt wants beside packages, made from their own control files: hosts have no tool for it.

import type { BundleFile } from '../../api/bundle.ts'

/** What stands in the index about the file, not about the package; a package cannot say it itself. */
const aboutFile = /^(Filename|Size|MD5sum|SHA1|SHA256|SHA512|Status):/i

/** One paragraph of `Packages`; undefined where the control file (`dpkg-deb --field`) does not name a package and its version. */
export function debIndexEntry(control: string, { path, bytes, sha256 }: BundleFile): string | undefined {
  const fields = fieldsOf(control)
  if (!fields.some((field) => /^Package: \S/i.test(field)) || !fields.some((field) => /^Version: \S/i.test(field))) {
    return undefined
  }
  const name = path.slice(path.lastIndexOf('/') + 1)
  const own = [`Filename: ./${name}`, `Size: ${bytes}`, `SHA256: ${sha256}`]
  return `${[...fields.filter((field) => !aboutFile.test(field)), ...own].join('\n')}\n`
}

/** Each with the lines that go on with it; an empty line would end the paragraph. */
function fieldsOf(control: string): readonly string[] {
  const fields: string[] = []
  for (const line of control.split('\n')) {
    if (line.trim() === '') continue
    if (/^\s/.test(line) && fields.length > 0) fields.push(`${fields.pop() ?? ''}\n${line}`)
    else fields.push(line)
  }
  return fields
}
