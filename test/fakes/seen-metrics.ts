// Metrics that remember which series were ever seen to change. A gauge must have had two values, or have come or gone, between
// two looks; a counter or histogram must have been counted.

import type { Metric } from '../../src/api/metric.ts'
import { type MetricName, metricCatalogue } from '../../src/api/metrics.ts'
import type { OperatorMetrics } from '../../src/operator/operator-metrics.ts'
import type { Metrics, Sample } from '../../src/ports/metrics.ts'

export class SeenMetrics implements OperatorMetrics {
  /** Shared by all stories of one test file. */
  readonly changed: Set<MetricName>
  /** Labels outside of the sets the catalogue names. */
  readonly strange = new Set<string>()
  readonly counts = new Map<string, number>()
  #source: (() => Iterable<Sample>) | undefined
  #last: ReadonlyMap<string, number> | undefined
  #leads: boolean | undefined

  constructor(changed: Set<MetricName>) {
    this.changed = changed
  }

  add: Metrics['add'] = (name, labels, by = 1) => {
    this.#check(name, labels)
    if (by > 0) this.changed.add(name)
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
    const key = `${name} ${Object.values(labels).join(' ')}`
    this.counts.set(key, (this.counts.get(key) ?? 0) + by)
  }

  observe: Metrics['observe'] = (name, labels, seconds) => {
    this.#check(name, labels)
    if (!(seconds >= 0)) this.strange.add(`${name} took ${seconds} s`)
    this.changed.add(name)
  }

  gather(source: (() => Iterable<Sample>) | undefined): void {
    this.#source = source
  }

  leading(leads: boolean): void {
    if (this.#leads !== undefined && this.#leads !== leads) this.changed.add('slipway_leading')
    if (leads) this.add('slipway_terms_total', {})
    this.#leads = leads
  }

  upgrade(): void {}
  upgradeStep(): void {}
  upgradeEnded(): void {}

  /** As a scrape does. */
  look(): void {
    if (!this.#source) return
    const now = new Map<string, number>()
    const names = new Map<string, MetricName>()
    for (const { name, labels, value } of this.#source()) {
      this.#check(name, labels)
      if (!Number.isFinite(value)) this.strange.add(`${name} is ${value}`)
      const key = `${name} ${JSON.stringify(labels)}`
      if (now.has(key)) this.strange.add(`${key} is told twice`)
      now.set(key, value)
      names.set(key, name)
    }
    for (const [key, value] of now) {
      const name = names.get(key)
      if (this.#last && name && this.#last.get(key) !== value) this.changed.add(name)
    }
    this.#last = now
  }

  value(name: MetricName, labels: object = {}): number | undefined {
    for (const sample of this.#source?.() ?? []) {
      if (sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels)) return sample.value
    }
    return undefined
  }

  #check(name: MetricName, labels: Readonly<Record<string, string>>): void {
    const known: Metric = metricCatalogue[name]
    const wanted = Object.keys(known.labels ?? {})
    if (wanted.join() !== Object.keys(labels).join()) this.strange.add(`${name} has labels ${Object.keys(labels)}`)
    for (const [label, value] of Object.entries(labels)) {
      const values = known.labels?.[label]
      if (typeof values === 'object' && !values.includes(value)) this.strange.add(`${name} ${label}=${value}`)
    }
  }
}
