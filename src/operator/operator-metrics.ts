/** What the operator counts; an adapter turns it into Prometheus series. */
export interface OperatorMetrics {
  leading(leads: boolean): void
  granted(slots: number): void
  reconciled(controller: string, outcome: 'ok' | 'retry'): void
}
