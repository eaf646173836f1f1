// The words of the report, the same in the table and on the page.

import type { LagReport, NodeLag } from '../../core/report/lag-report.ts'
import type { Column } from '../table.ts'
import { ageText } from '../time-text.ts'

export function summaryText({ summary }: LagReport): string {
  const { total, upToDate, lagging, unknown, missed } = summary
  const parts = [`${lagging} lag`, `${upToDate} up to date`, ...(unknown > 0 ? [`${unknown} unknown`] : [])]
  const late = missed === undefined ? '' : `; ${missed} missed the date`
  return `${total} ${total === 1 ? 'node' : 'nodes'}: ${parts.join(', ')}${late}`
}

export function targetText({ target }: LagReport): string {
  if (!target) return 'no version: no host says what is on offer; name one with --target'
  return target.source === 'Asked' ? target.version : `${target.version}, the newest the hosts have on offer`
}

export function lagText({ lags, verdict }: NodeLag): string {
  if (lags.length === 0) return verdict === 'Unknown' ? 'unknown' : ''
  return lags.map(({ what, detail }) => `${what}: ${detail}`).join('; ')
}

export function sinceText({ lags, since }: NodeLag): string {
  if (lags.length === 0) return ''
  return since ?? 'unknown'
}

export function lastUpdateText({ lastUpdate }: NodeLag): string {
  return lastUpdate ? `${lastUpdate.name}, ${lastUpdate.at}` : 'unknown'
}

export function reportColumns(report: LagReport, now: Date): readonly Column<NodeLag>[] {
  const age = ({ lags, since }: NodeLag) =>
    lags.length === 0 ? '-' : since === undefined ? 'unknown' : ageText(since, now)
  return [
    { title: 'NODE', value: ({ node }) => node },
    { title: 'ROLE', spare: 1, value: ({ role }) => role },
    { title: 'STATE', value: ({ verdict }) => verdict },
    ...(report.patchedBy === undefined
      ? []
      : [{ title: 'PATCHED BY', value: ({ patchedBy = 'Unknown' }: NodeLag) => patchedBy }]),
    { title: 'KUBELET', value: ({ kubelet = 'unknown' }) => kubelet },
    { title: 'LAGS FOR', value: age },
    {
      title: 'LAST UPDATE',
      spare: 2,
      value: ({ lastUpdate }) => (lastUpdate ? `${ageText(lastUpdate.at, now)} ago` : 'unknown'),
    },
    { title: 'BEHIND', value: lagText },
  ]
}
