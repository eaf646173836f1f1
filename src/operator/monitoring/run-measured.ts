import { runController } from '../../kube/controller.ts'
import type { OperatorPorts } from '../ports.ts'
import type { Controller } from './monitoring.ts'

/** Runs a controller until aborted, and counts its looks and how long they take where anybody counts. */
export function runMeasured(
  { name, queue, reconcile, workers }: Controller,
  { log, clock, metrics }: OperatorPorts,
  signal: AbortSignal,
): Promise<void> {
  const options = { name, queue, workers, log }
  if (!metrics) return runController({ ...options, reconcile }, signal)
  const measured: typeof reconcile = async (key, until) => {
    const startedMs = clock.monotonicMs()
    try {
      return await reconcile(key, until)
    } finally {
      const seconds = (clock.monotonicMs() - startedMs) / 1000
      metrics.observe('slipway_reconcile_duration_seconds', { controller: name }, seconds)
    }
  }
  const onResult = (_key: string, outcome: 'ok' | 'retry') =>
    metrics.add('slipway_reconciles_total', { controller: name, outcome })
  return runController({ ...options, reconcile: measured, onResult }, signal)
}
