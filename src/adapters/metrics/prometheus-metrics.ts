import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Metric } from '../../api/metric.ts'
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  metricCatalogue,
} from '../../api/metrics.ts'
import type { Metrics, Sample } from '../../ports/metrics.ts'
import { UpgradeSeries } from './upgrade-series.ts'

/** Codes of reasons are too many to say of each that it never happened. */
const maxAtZero = 32

/** What the operator counts, as Prometheus series in a registry of its own. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry()
  readonly #gauges = new Map<GaugeName, Gauge>()
  readonly #counters = new Map<CounterName, Counter>()
  readonly #histograms = new Map<HistogramName, Histogram>()
  readonly #upgrades: UpgradeSeries
  #source: (() => Iterable<Sample>) | undefined
  #leads = false

  constructor() {
    for (const [name, metric] of Object.entries<Metric>(metricCatalogue)) this.#make(name, metric)
    this.#upgrades = new UpgradeSeries(this.#registry)
  }

  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by = 1): void {
    this.#counters.get(name)?.inc({ ...labels }, by)
  }

  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    this.#histograms.get(name)?.observe({ ...labels }, seconds)
  }

  gather(source: (() => Iterable<Sample>) | undefined): void {
    this.#source = source
  }

  leading(leads: boolean): void {
    if (leads && !this.#leads) this.add('slipway_terms_total', {})
    this.#leads = leads
  }

  requested(request: {
    readonly verb: string
    readonly plural: string
    readonly status: number
    readonly ms: number
  }): void {
    const { verb, plural, status, ms } = request
    this.add('slipway_api_requests_total', { verb, resource: plural, status: String(status) })
    this.observe('slipway_api_request_duration_seconds', { verb }, ms / 1000)
  }

  upgrade(...said: Parameters<UpgradeSeries['running']>): void {
    this.#upgrades.running(...said)
  }

  upgradeStep(...said: Parameters<UpgradeSeries['step']>): void {
    this.#upgrades.step(...said)
  }

  upgradeEnded(phase: string): void {
    this.#upgrades.ended(phase)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Gauges tell how things are now: what nobody tells any more is gone. */
  text(): Promise<string> {
    for (const [name, gauge] of this.#gauges) {
      // One without labels would be reset to zero, which says something.
      if ('labels' in metricCatalogue[name]) gauge.reset()
      else gauge.remove()
    }
    this.#gauges.get('slipway_leading')?.set(this.#leads ? 1 : 0)
    for (const { name, labels, value } of this.#source?.() ?? []) this.#gauges.get(name)?.set({ ...labels }, value)
    return this.#registry.metrics()
  }

  #make(name: string, { type, help, labels = {}, buckets = [] }: Metric): void {
    const settings = { name, help, labelNames: Object.keys(labels), registers: [this.#registry] }
    if (type === 'gauge') this.#gauges.set(name as GaugeName, new Gauge(settings))
    else if (type === 'counter') this.#counters.set(name as CounterName, counterFromZero(settings, labels))
    else this.#histograms.set(name as HistogramName, new Histogram({ ...settings, buckets: [...buckets] }))
  }
}

/** A counter that begins with its first event never rises for a Prometheus: what can be named beforehand begins at zero. */
function counterFromZero(settings: ConstructorParameters<typeof Counter>[0], labels: Metric['labels'] = {}): Counter {
  const counter = new Counter(settings)
  let all: readonly Readonly<Record<string, string>>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return counter
    all = all.flatMap((known) => values.map((value) => ({ ...known, [label]: value })))
  }
  if (all.length <= maxAtZero) for (const one of all) counter.inc(one, 0)
  return counter
}
