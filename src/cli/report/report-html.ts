// The report as one page: nothing is fetched, every text of the cluster is escaped, dark and light, and fit to be printed.

import type { LagReport, NodeLag } from '../../core/report/lag-report.ts'
import { lagText, lastUpdateText, sinceText, summaryText, targetText } from './report-text.ts'

export function reportHtml(report: LagReport, cluster: string | undefined): string {
  const title = `Nodes that lag${cluster === undefined ? '' : `: ${cluster}`}`
  const hasDate = report.patchedBy !== undefined
  const titles = [
    'Node',
    'Role',
    'State',
    ...(hasDate ? ['Patched by'] : []),
    'Kubelet',
    'System',
    'Behind',
    'Since',
    'Last update',
  ]
  const head = titles.map((text) => `<th scope="col">${escaped(text)}</th>`).join('')
  const rows = report.nodes.map((node) => rowOf(node, hasDate)).join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${escaped(summaryText(report))}</p>
<dl>
<dt>Made at</dt><dd>${escaped(report.at)}</dd>
<dt>Held against</dt><dd>${escaped(targetText(report))}</dd>
${hasDate ? `<dt>Patched by</dt><dd>${escaped(report.patchedBy ?? '')}</dd>\n` : ''}</dl>
<table>
<caption>Every node, those that lag first</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${rows}
</tbody>
</table>
<p class="note">“unknown” means that nobody recorded it. Since when a node is behind with a version is known where an update asked for it.</p>
</body>
</html>
`
}

function rowOf(node: NodeLag, hasDate: boolean): string {
  const cells = [
    node.role,
    mark(node.verdict),
    ...(hasDate ? [mark(node.patchedBy ?? 'Unknown')] : []),
    node.kubelet ?? 'unknown',
    [node.os, node.kernel].filter((part) => part !== undefined).join(', ') || 'unknown',
    lagText(node),
    sinceText(node),
    lastUpdateText(node),
  ]
  const data = cells.map((cell) => `<td>${typeof cell === 'string' ? escaped(cell) : cell.html}</td>`).join('')
  return `<tr><th scope="row">${escaped(node.node)}</th>${data}</tr>`
}

const signs: Readonly<Record<string, string>> = {
  UpToDate: '✓',
  Met: '✓',
  Lagging: '✗',
  Overdue: '✗',
  Late: '!',
  Due: '…',
  Unknown: '?',
}

/** A sign and a word: colour alone tells nobody who cannot see it. */
function mark(word: string): { readonly html: string } {
  return { html: `<span class="${escaped(word)}">${signs[word] ?? ''} ${escaped(word)}</span>` }
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

const style = `
:root { color-scheme: light dark; --ink: #1a1d21; --page: #fff; --line: #d5d9de; --soft: #5b6470; --bad: #b3261e; --good: #17663a; --wait: #7a5200 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --page: #14171a; --line: #343a41; --soft: #9aa4af; --bad: #ff8a80; --good: #7ddba3; --wait: #ffca6b } }
body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page) }
h1 { font-size: 1.4rem; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem } dt { color: var(--soft) } dd { margin: 0 }
table { border-collapse: collapse; width: 100% } caption { text-align: left; color: var(--soft) }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
tbody th { font-weight: 600 } thead { position: sticky; top: 0; background: var(--page) }
.Lagging, .Overdue { color: var(--bad); font-weight: 600 } .Late, .Due, .Unknown { color: var(--wait) } .UpToDate, .Met { color: var(--good) }
.note { color: var(--soft) }
@media print { :root { --ink: #000; --page: #fff; --line: #999; --soft: #333; --bad: #000; --good: #000; --wait: #000 } body { margin: 0; max-width: none; font-size: 10pt } thead { display: table-header-group; position: static } tr { break-inside: avoid } }
`
