import { expect, it } from 'vitest'
import { PrometheusMetrics } from './prometheus-metrics.ts'

const id = '8d3a2c1e-0000-4000-8000-000000000001'
const nodes = { pending: 2, upgrading: 1, completed: 3, failed: 0 }

async function linesOf(metrics: PrometheusMetrics): Promise<readonly string[]> {
  const text = await metrics.text()
  return text.split('\n').filter((line) => line.startsWith('upgrade_') && !line.includes('_bucket'))
}

it('an upgrade that runs has its series, and one that ended leaves only how it ended', async () => {
  const metrics = new PrometheusMetrics()
  metrics.upgrade(id, { phase: 'Pending', nodes })
  metrics.upgrade(id, { phase: 'InProgress', nodes })
  metrics.upgradeStep(id, 'w1', 'upgrade-kubelet', 12)
  expect(await linesOf(metrics)).toEqual([
    `upgrade_operations_total{phase="InProgress",operation_id="${id}"} 1`,
    `upgrade_operation_nodes_total{operation_id="${id}",status="pending"} 2`,
    `upgrade_operation_nodes_total{operation_id="${id}",status="upgrading"} 1`,
    `upgrade_operation_nodes_total{operation_id="${id}",status="completed"} 3`,
    `upgrade_operation_nodes_total{operation_id="${id}",status="failed"} 0`,
    `upgrade_node_step_duration_seconds_sum{operation_id="${id}",node="w1",step="upgrade-kubelet"} 12`,
    `upgrade_node_step_duration_seconds_count{operation_id="${id}",node="w1",step="upgrade-kubelet"} 1`,
    `upgrade_in_progress{operation_id="${id}"} 1`,
  ])
  metrics.upgrade(id, undefined)
  metrics.upgradeEnded('Failed')
  expect(await linesOf(metrics)).toEqual(['upgrade_operations_total{phase="Failed",operation_id=""} 1'])
  expect(await metrics.text()).not.toContain(id)
})
