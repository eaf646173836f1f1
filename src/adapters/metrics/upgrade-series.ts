// The series that dashboards for CUPCAKE read, under its names. An operation's id is a label only while it runs: it would be a
// new series for ever with each upgrade. What stays is how many ended how.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const nodeStatuses = ['pending', 'upgrading', 'completed', 'failed'] as const

interface Figures {
  readonly phase: string
  readonly nodes: Readonly<Record<(typeof nodeStatuses)[number], number>>
}

interface Shown {
  phase: string
  readonly steps: Map<string, { readonly node: string; readonly step: string }>
}

export class UpgradeSeries {
  readonly #operations
  readonly #nodes
  readonly #steps
  readonly #inProgress
  readonly #shown = new Map<string, Shown>()

  constructor(registry: Registry) {
    const registers = [registry]
    this.#operations = new Counter({
      name: 'upgrade_operations_total',
      help: 'upgrades by phase; operation_id is empty for those that ended',
      labelNames: ['phase', 'operation_id'] as const,
      registers,
    })
    this.#nodes = new Gauge({
      name: 'upgrade_operation_nodes_total',
      help: 'nodes of an upgrade that runs, by where they stand',
      labelNames: ['operation_id', 'status'] as const,
      registers,
    })
    this.#steps = new Histogram({
      name: 'upgrade_node_step_duration_seconds',
      help: 'how long each step took on a node, while its upgrade runs',
      labelNames: ['operation_id', 'node', 'step'] as const,
      buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800],
      registers,
    })
    this.#inProgress = new Gauge({
      name: 'upgrade_in_progress',
      help: 'one for each upgrade that runs',
      labelNames: ['operation_id'] as const,
      registers,
    })
  }

  running(id: string, figures: Figures | undefined): void {
    if (!figures) {
      this.#takeAway(id)
      return
    }
    const shown = this.#shownOf(id)
    if (shown.phase !== figures.phase) {
      this.#operations.remove({ phase: shown.phase, operation_id: id })
      this.#operations.inc({ phase: figures.phase, operation_id: id })
      shown.phase = figures.phase
    }
    this.#inProgress.set({ operation_id: id }, 1)
    for (const status of nodeStatuses) this.#nodes.set({ operation_id: id, status }, figures.nodes[status])
  }

  step(id: string, node: string, step: string, seconds: number): void {
    this.#steps.observe({ operation_id: id, node, step }, seconds)
    this.#shownOf(id).steps.set(JSON.stringify([node, step]), { node, step })
  }

  ended(phase: string): void {
    this.#operations.inc({ phase, operation_id: '' })
  }

  #shownOf(id: string): Shown {
    const known = this.#shown.get(id)
    if (known) return known
    const shown = { phase: '', steps: new Map() }
    this.#shown.set(id, shown)
    return shown
  }

  #takeAway(id: string): void {
    const shown = this.#shown.get(id)
    if (!shown) return
    this.#shown.delete(id)
    this.#operations.remove({ phase: shown.phase, operation_id: id })
    this.#inProgress.remove({ operation_id: id })
    for (const status of nodeStatuses) this.#nodes.remove({ operation_id: id, status })
    for (const { node, step } of shown.steps.values()) this.#steps.remove({ operation_id: id, node, step })
  }
}
