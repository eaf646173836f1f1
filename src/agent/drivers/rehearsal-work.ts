// Every kind of work but Kubernetes upgrades and scripts, as pretend hosts carry it out: one step that takes its time and
// changes nothing but the image that is booted. For plans: they ask how long a node is away, not what becomes of it.

import type { Order } from '../../api/node-state.ts'
import { componentsOf } from '../../core/update/drivers-for.ts'
import type { Driver, Step } from './driver.ts'
import { stampsDriver } from './stamps/stamps.ts'

/** The one of them that leaves a trace: what is booted is looked at before the next update. */
const bootImage: Step = {
  name: 'boot-image',
  disruptive: true,
  attempts: 1,
  showsEffect: false,
  argv: ({ order }) => Promise.resolve(['pretend-upgrade', 'image', order.work.os?.image ?? '']),
}

export const rehearsalImage: Driver = {
  ...pretended('osimage', bootImage.name, ({ work }) => work.os?.image !== undefined),
  steps: () => [bootImage],
}

/** Named as the real ones and with the name of their longest step, so that measured times fit. */
export const rehearsalWork: readonly Driver[] = [
  pretended('profile', 'apply-profile', ({ work }) => work.profile !== undefined),
  pretended('jobs', 'jobs', ({ work }) => work.jobs !== undefined),
  pretended('packages', 'upgrade-packages', ({ work }) => work.os?.packages !== undefined),
  pretended('runtime', 'install-runtime', (order) => names(order, 'containerd')),
  pretended('etcd', 'install-etcd', (order) => names(order, 'etcd')),
  rehearsalImage,
  pretended('binary', 'swap-binary', ({ work }) => work.binary !== undefined),
  pretended('maintenance', 'maintenance', ({ work }) => work.maintenance !== undefined),
  // A moment's work on files, which pretend hosts have.
  stampsDriver,
]

function names({ work }: Order, component: 'containerd' | 'etcd'): boolean {
  return work.kubernetes !== undefined && componentsOf(work.kubernetes).includes(component)
}

function pretended(name: string, step: string, concerns: (order: Order) => boolean): Driver {
  return {
    name,
    concerns,
    inspect: () => Promise.resolve({}),
    steps: () => [
      {
        name: step,
        disruptive: true,
        attempts: 1,
        showsEffect: false,
        argv: () => Promise.resolve(['pretend-work', step]),
      },
    ],
    undo: { possible: false, because: 'it is only pretended', endsUndo: 'Never' },
  }
}
