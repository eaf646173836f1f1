// Every kind of work but Kubernetes upgrades and scripts, as pretend hosts carry it out: one step that takes its time and
// changes nothing. For plans: they ask how long a node is away, not what becomes of it.

import type { Order } from '../../api/node-state.ts'
import { componentsOf } from '../../core/update/drivers-for.ts'
import type { Driver } from './driver.ts'

/** Named as the real ones and with the name of their longest step, so that measured times fit. */
export const rehearsalWork: readonly Driver[] = [
  pretended('profile', 'apply-profile', ({ work }) => work.profile !== undefined),
  pretended('jobs', 'jobs', ({ work }) => work.jobs !== undefined),
  pretended('packages', 'upgrade-packages', ({ work }) => work.os?.packages !== undefined),
  pretended('runtime', 'install-runtime', (order) => names(order, 'containerd')),
  pretended('etcd', 'install-etcd', (order) => names(order, 'etcd')),
  pretended('osimage', 'boot-image', ({ work }) => work.os?.image !== undefined),
  pretended('binary', 'swap-binary', ({ work }) => work.binary !== undefined),
  pretended('maintenance', 'maintenance', ({ work }) => work.maintenance !== undefined),
]

function names({ work }: Order, component: 'containerd' | 'etcd'): boolean {
  return work.kubernetes !== undefined && componentsOf(work.kubernetes).includes(component)
}

function pretended(name: string, step: string, concerns: (order: Order) => boolean): Driver {
  return {
    name,
    concerns,
    inspect: () => Promise.resolve({}),
    steps: () => [{ name: step, disruptive: true, attempts: 1, argv: () => Promise.resolve(['pretend-work', step]) }],
    undo: { possible: false, because: 'it is only pretended', endsUndo: 'Never' },
  }
}
