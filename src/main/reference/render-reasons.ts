import { reasonGroups } from '../../api/reason.ts'

const titles: Readonly<Record<keyof typeof reasonGroups, string>> = {
  waiting: 'A node or an update waits',
  draining: 'A pod is skipped, evicted or holds up a drain',
  planning: 'An update is planned or refused',
  outcome: 'How a node or an update ended, or stands',
}

/** The page of all reasons, in the order of the catalogue. */
export function renderReasons(): string {
  const sections = Object.entries(reasonGroups).map(([group, reasons]) => {
    const rows = Object.entries(reasons).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
    return [`## ${titles[group as keyof typeof titles]}`, '', '| code | meaning |', '|---|---|', ...rows, ''].join('\n')
  })
  return `${head}\n${sections.join('\n')}`
}

const head = `<!-- Generated from src/api/reason.ts by make reference; do not edit. -->
# Reasons

Why something waits, failed or was refused. The same code stands in status, Events, logs and what the commands print; the message
beside it names the node, pod or file concerned.
`
