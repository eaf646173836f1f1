import { Counter, Gauge, Registry } from 'prom-client'

/** What the operator counts, as Prometheus series in a registry of its own. */
export class PrometheusMetrics {
  readonly #registry = new Registry()
  readonly #leading = this.#gauge('slipway_leading', 'whether this replica holds the lease')
  readonly #grants = this.#gauge('slipway_ledger_grants', 'nodes the ledger counts as away for updates')
  readonly #reconciles = new Counter({
    name: 'slipway_reconciles_total',
    help: 'looks of the controllers, by outcome',
    labelNames: ['controller', 'outcome'] as const,
    registers: [this.#registry],
  })
  readonly #requests = new Counter({
    name: 'slipway_api_requests_total',
    help: 'requests to the Kubernetes API; status 0 = nobody answered',
    labelNames: ['verb', 'resource', 'status'] as const,
    registers: [this.#registry],
  })

  leading(leads: boolean): void {
    this.#leading.set(leads ? 1 : 0)
  }

  granted(slots: number): void {
    this.#grants.set(slots)
  }

  reconciled(controller: string, outcome: 'ok' | 'retry'): void {
    this.#reconciles.inc({ controller, outcome })
  }

  requested(request: { readonly verb: string; readonly plural: string; readonly status: number }): void {
    this.#requests.inc({ verb: request.verb, resource: request.plural, status: request.status })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.#registry] })
  }
}
