// What the operator asks for on a cluster of 1,000 nodes where nothing is to be done but heartbeats arrive.

import { setTimeout as wait } from 'node:timers/promises'
import { nodes } from '../src/api/kube.ts'
import { countRequests, listing, total } from './audit-log.ts'
import { Bed } from './bed.ts'
import type { Bench } from './figure.ts'

const nodeCount = 1000
const settleMs = 10_000
const minutes = 2
/** A kubelet posts its status every five minutes when nothing changes. */
const heartbeatEveryMs = 300_000 / nodeCount

export const idleOperator: Bench = {
  name: 'idle-operator',
  alone: false,
  async measure(signal) {
    const bed = await Bed.start({ controllers: false, audit: true }, signal)
    try {
      await bed.addNodes(nodeCount, 1, signal)
      await bed.startOperator()
      await bed.settled(nodeCount, false, signal)
      await wait(settleMs, undefined, { signal })
      const from = new Date()
      await heartbeats(bed, from.getTime() + minutes * 60_000, signal)
      const counts = await countRequests(bed.server.auditLogPath, ['operator'], from, new Date())
      const measured = total(counts) / minutes
      const what = `requests per minute with nothing to do, operator with ${nodeCount.toLocaleString('en')} nodes`
      return { figures: [{ what, measured, wanted: { atMost: 40 }, unit: '' }], seen: { requests: listing(counts) } }
    } finally {
      await bed.stop()
    }
  },
}

async function heartbeats(bed: Bed, endMs: number, signal: AbortSignal): Promise<void> {
  for (let index = 0; Date.now() < endMs; index++) {
    const name = `node-${(index % nodeCount) + 1}`
    const now = new Date().toISOString()
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now, lastTransitionTime: now },
    ]
    await bed.api.patch(nodes, { name }, { type: 'merge', body: { status: { conditions } } }, signal, 'status')
    await wait(heartbeatEveryMs, undefined, { signal })
  }
}
