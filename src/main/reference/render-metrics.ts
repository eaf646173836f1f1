import type { Metric } from '../../api/metric.ts'
import { metricGroups } from '../../api/metrics.ts'

const titles: Readonly<Record<keyof typeof metricGroups, string>> = {
  nodesAndAgents: 'Nodes and agents',
  updates: 'Updates',
  budgetsAndHours: 'Slots, budgets and hours',
  drainsAndSteps: 'Drains, orders and steps',
  clusterHealth: 'The cluster itself',
  ownWork: 'The operator’s own work',
}

/** The page of all series, in the order of the catalogue. */
export function renderMetrics(): string {
  const sections = Object.entries(metricGroups).map(([group, metrics]) => {
    const rows = Object.entries<Metric>(metrics).map(
      ([name, { type, help, labels = {} }]) => `| \`${name}\` | ${type} | ${labelText(labels)} | ${help} |`,
    )
    const title = `## ${titles[group as keyof typeof titles]}`
    return [title, '', '| series | type | labels | meaning |', '|---|---|---|---|', ...rows, ''].join('\n')
  })
  return `${head}\n${sections.join('\n')}${foot}`
}

function labelText(labels: NonNullable<Metric['labels']>): string {
  const texts = Object.entries(labels).map(([label, values]) => {
    if (typeof values === 'string') return `\`${label}\`: ${values}`
    return values.length > 16 ? `\`${label}\`: a [reason](reasons.md)` : `\`${label}\`: ${values.join(', ')}`
  })
  return texts.join('<br>')
}

const head = `<!-- Generated from src/api/metrics.ts by make reference; do not edit. -->
# Metrics

What the operator serves at \`/metrics\` (port 8080 unless \`--metrics-address\` says otherwise). Labels have closed sets of values or are names
that the schema bounds: no node, pod or update is ever one. Only the replica that leads tells more than \`slipway_leading\`, what it counted
itself and its requests; gauges are computed when they are scraped. How to use them: [monitoring](../monitoring.md).
`

const foot = `
## Under CUPCAKE’s names

For dashboards made for CUPCAKE: \`upgrade_operations_total\`, \`upgrade_operation_nodes_total\`, \`upgrade_node_step_duration_seconds\` and
\`upgrade_in_progress\`, only for resources of CUPCAKE. Their label \`operation_id\` is there while the operation runs, and goes with it.
`
