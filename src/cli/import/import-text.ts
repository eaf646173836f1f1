// What an import came to, as one file: the remarks as comments at its head, so that they stay with what they are about.

import type { Imported, Remark } from '../../core/import/imported.ts'
import type { Yaml } from '../dependencies.ts'

const headings: Readonly<Record<Remark['kind'], string>> = {
  ToFillIn: 'To be filled in by you, before it can be applied',
  NoEquivalent: 'Without an equivalent',
  Unread: 'Not understood, and so not carried over',
  Differs: 'Carried over, and different here',
  NotNeeded: 'Not needed any more',
}

export function remarkLines(remarks: readonly Remark[]): readonly string[] {
  return Object.entries(headings).flatMap(([kind, heading]) => {
    const told = remarks.filter((remark) => remark.kind === kind)
    return told.length === 0 ? [] : [`${heading}:`, ...told.map(({ what, text }) => `  ${what}: ${text}`)]
  })
}

export function importedYaml(imported: Imported, from: readonly string[], yaml: Yaml): string {
  const head = [`Made by slipway import from ${from.join(', ')}.`, ...remarkLines(imported.remarks)]
  const comments = head.flatMap((line) => line.split(/[\n\r\u0085\u2028\u2029]/)).map((line) => `# ${line}\n`)
  return `${comments.join('')}${imported.objects.map((object) => yaml.print(object)).join('---\n')}`
}
