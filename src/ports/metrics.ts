import type { CounterName, GaugeName, HistogramName, LabelsOf } from '../api/metrics.ts'

/** One value of a gauge. */
export type Sample = {
  readonly [Name in GaugeName]: { readonly name: Name; readonly labels: LabelsOf<Name>; readonly value: number }
}[GaugeName]

/** What is counted, by the names of the catalogue. */
export interface Metrics {
  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void
  /** What is asked whenever somebody scrapes, so that it costs nothing meanwhile; `undefined` = nobody tells any more. */
  gather(source: (() => Iterable<Sample>) | undefined): void
}
