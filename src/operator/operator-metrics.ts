import type { Metrics } from '../ports/metrics.ts'

/** What the operator counts; an adapter turns it into Prometheus series. */
export interface OperatorMetrics extends Metrics {
  leading(leads: boolean): void
  /** An operation for a resource of CUPCAKE, while it runs; `undefined` takes away all that was said of it. */
  upgrade(operationID: string, figures: UpgradeFigures | undefined): void
  upgradeStep(operationID: string, node: string, step: string, seconds: number): void
  upgradeEnded(phase: string): void
}

export interface UpgradeFigures {
  readonly phase: string
  readonly nodes: Readonly<Record<'pending' | 'upgrading' | 'completed' | 'failed', number>>
}
