// A situation in which everything waits after a restore of etcd.

import { goesBack, rollCall } from './restored-cluster.ts'
import type { Situation } from './why-asking.ts'

export const restoredSituations: readonly Situation[] = [
  {
    name: 'etcd was restored and an agent is silent',
    arrange: async (story) => {
      const { cluster, faults, update } = story
      update.script('true')
      await cluster.nodeIs('w1', 'Working')
      const saved = cluster.sim.server.save()
      faults.keepAway('w3')
      cluster.machine('w3').agent?.crash()
      await goesBack(story, saved, 'a1')
      await cluster.until('w3 is waited for', () => rollCall(story)?.waitingFor.join() === 'w3')
    },
    asked: [
      { of: 'update', code: 'RollCall', names: /before the agents of w3 have reported/ },
      { of: 'w2', code: 'RollCall', names: /before the agents of w3 have reported/ },
    ],
  },
]
