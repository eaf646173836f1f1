// slipway nodes: every node, what it runs, who cordoned it, and what an update does there.

import type { Command } from 'commander'
import { nodes } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'
import { selectorText } from '../../core/label-selector.ts'
import { naturalOrder } from '../../core/natural-order.ts'
import { parseSelector } from '../../core/selector-text.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { type NodeReport, nodeReport } from '../node-report.ts'
import { listAll } from '../read-cluster.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Column, tableLines, widthOf, writeLines } from '../table.ts'

interface NodesOptions {
  readonly selector?: string
  readonly output: Format
}

export function addNodes(parent: Command, run: RunAction): void {
  parent
    .command('nodes')
    .description('Shows every node with what it runs, who cordoned it, and what an update does there.')
    .option('-l, --selector <labels>', 'only nodes with these labels, like pool=a')
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway nodes
  slipway nodes --selector 'pool in (a,b)'
  slipway nodes --output json`,
    )
    .action(run(runNodes))
}

async function runNodes(context: CommandContext, options: NodesOptions): Promise<number> {
  const { out, signal } = context
  const selection =
    options.selector === undefined ? {} : { labelSelector: selectorText(parseSelector(options.selector)) }
  const api = await context.api()
  const [found, states] = await Promise.all([
    listAll(api, nodes, selection, signal),
    listAll(api, nodeStates, {}, signal),
  ])
  const byName = new Map(states.items.map((state) => [state.metadata.name, state]))
  const inOrder = naturalOrder()
  const reports = found.items
    .map((node) => nodeReport(node, byName.get(node.metadata.name)))
    .sort((a, b) => inOrder(a.role, b.role) || inOrder(a.name, b.name))
  if (options.output !== 'table') await writeValue(context, options.output, reports)
  else if (reports.length === 0) out.write('no node matches\n')
  else writeLines(out, tableLines(columns, reports, widthOf(out)))
  return exitCode.done
}

const columns: readonly Column<NodeReport>[] = [
  { title: 'NODE', value: (node) => node.name },
  { title: 'ROLE', spare: 2, value: (node) => node.role },
  { title: 'READY', value: (node) => (node.ready ? 'yes' : 'no') },
  { title: 'CORDONED BY', spare: 5, value: (node) => node.cordonedBy ?? '-' },
  { title: 'KUBELET', spare: 3, value: (node) => node.kubelet ?? '-' },
  { title: 'AGENT', spare: 1, value: (node) => node.agent ?? '-' },
  { title: 'UPDATE', value: takenFor },
  { title: 'PHASE', value: (node) => node.phase ?? '-' },
  { title: 'STEP', spare: 4, value: (node) => node.step ?? '-' },
  { title: 'REASON', value: (node) => node.reason?.message ?? '' },
]

function takenFor({ kind, update = '-' }: NodeReport): string {
  if (kind === 'Maintenance') return '(maintenance)'
  return kind === 'NodeProfile' ? `profile ${update}` : update
}
