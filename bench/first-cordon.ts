// How soon an update takes its first node, in units of what the API server itself needs to take a write and tell of it.

import { directUpdates } from '../src/api/direct-update.ts'
import { type Node, nodes } from '../src/api/kube.ts'
import type { Change, Store } from '../src/kube/store.ts'
import { Bed, until } from './bed.ts'
import { type Bench, median } from './figure.ts'

const rounds = 11
const patchesPerRound = 5
const nodeCount = 10

export const firstCordon: Bench = {
  name: 'first-cordon',
  alone: true,
  async measure(signal) {
    const bed = await Bed.start({ controllers: false }, signal)
    try {
      await bed.addNodes(nodeCount, 1, signal)
      bed.startAgents(0, 60)
      await bed.startOperator()
      await bed.settled(nodeCount, true, signal)
      const store = await bed.follow(nodes, {}, signal)
      const patchMs: number[] = []
      const cordonMs: number[] = []
      // The first round warms both sides up.
      for (let round = 0; round <= rounds; round++) {
        const patches: number[] = []
        for (let count = 0; count < patchesPerRound; count++) patches.push(await patchToEvent(bed, store, signal))
        const cordon = await createdToCordon(bed, store, `first-${round}`, signal)
        if (round === 0) continue
        patchMs.push(...patches)
        cordonMs.push(cordon)
      }
      const ratio = median(cordonMs) / median(patchMs)
      const what = `DirectUpdate created → first cordon, as a multiple of PATCH → watch event (medians, ${rounds} runs)`
      return {
        figures: [{ what, measured: ratio, wanted: { atMost: 6 }, unit: '×' }],
        seen: { patchToEventMs: median(patchMs), createdToCordonMs: median(cordonMs) },
      }
    } finally {
      await bed.stop()
    }
  },
}

async function patchToEvent(bed: Bed, store: Store<Node>, signal: AbortSignal): Promise<number> {
  const mark = String(performance.now())
  const startedMs = performance.now()
  const seen = firstChange(store, ({ object }) => object.metadata.annotations?.bench === mark)
  const body = { metadata: { annotations: { bench: mark } } }
  await bed.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body }, signal)
  return (await seen) - startedMs
}

/** The update is removed again, and everything put back, before this returns. */
async function createdToCordon(bed: Bed, store: Store<Node>, name: string, signal: AbortSignal): Promise<number> {
  await bed.addScript(name, signal)
  const startedMs = performance.now()
  const seen = firstChange(store, ({ object }) => object.spec.unschedulable === true)
  await bed.createUpdate(name, 1, signal)
  const tookMs = (await seen) - startedMs
  await bed.api.delete(directUpdates, { name }, {}, signal)
  await until(`${name} to go`, async () => {
    const left = await bed.api.list(directUpdates, {}, signal)
    return left.items.length === 0 && [...store.values()].every(({ spec }) => spec.unschedulable !== true)
  })
  return tookMs
}

function firstChange(store: Store<Node>, wanted: (change: Change<Node>) => boolean): Promise<number> {
  return new Promise((resolve) => {
    const unsubscribe = store.subscribe((change) => {
      if (!wanted(change)) return
      unsubscribe()
      resolve(performance.now())
    })
  })
}
