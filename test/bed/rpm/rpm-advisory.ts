// What a distribution's index says about its packages: which of them mends what. dnf's `--security` goes by nothing else.

import { machine } from 'node:os'
import type { RpmPackage } from './rpm-package.ts'

export interface Advisory {
  readonly type: 'security' | 'bugfix'
  readonly fixedBy: RpmPackage
}

/** The file `updateinfo` of a repository. */
export function updateInfo(advisories: readonly Advisory[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<updates>\n${advisories.map(update).join('')}</updates>\n`
}

function update({ type, fixedBy: { name, version, release = '1' } }: Advisory, index: number): string {
  const architecture = machine()
  return `<update from="bed@slipway.test" status="final" type="${type}" version="1">
  <id>BED-2026:${index + 1}</id>
  <title>${name} ${version}</title>
  <issued date="2026-01-01 00:00:00"/>
  <severity>${type === 'security' ? 'Important' : 'None'}</severity>
  <description>Made for a test.</description>
  <pkglist><collection short="bed"><name>bed</name>
    <package name="${name}" version="${version}" release="${release}" epoch="0" arch="${architecture}">
      <filename>${name}-${version}-${release}.${architecture}.rpm</filename>
    </package>
  </collection></pkglist>
</update>
`
}
