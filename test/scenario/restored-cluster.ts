// A cluster whose etcd goes back to a backup, under machines that do not.

import { maintenancePolicies, policyName, restoredAnnotation } from '../../src/api/maintenance-policy.ts'
import type { SimApi } from '../../src/sim/sim-api.ts'
import type { Story } from './story.ts'

/** As `slipway backup restore` leaves it: the mark is in etcd before anybody can read. */
export async function goesBack(story: Story, saved: ReturnType<SimApi['save']>, mark?: string): Promise<void> {
  const { cluster, faults } = story
  // Nobody restores under a running API server; a leader's term does not last so long.
  faults.isApiAway = true
  for (const process of cluster.sim.clients()) process.breakWatches()
  await cluster.pass(20_000)
  const isPolicy = ({ kind }: { readonly kind?: string | undefined }) => kind === maintenancePolicies.kind
  cluster.sim.goBack(
    saved.map((object) => {
      if (mark === undefined || !isPolicy(object)) return object
      const annotations = { ...object.metadata.annotations, [restoredAnnotation]: mark }
      return { ...object, metadata: { ...object.metadata, annotations } }
    }),
  )
  faults.isApiAway = false
}

/** What is waited for. */
export function rollCall({ cluster }: Story) {
  return cluster.sim.server.peek(maintenancePolicies, { name: policyName })?.status?.rollCall
}
