// One rollout over a hundred nodes of a real API server, watched from outside.

import { setTimeout as wait } from 'node:timers/promises'
import { directUpdates } from '../src/api/direct-update.ts'
import { pods } from '../src/api/kube.ts'
import { createWorkload, ensureNamespace } from '../src/sim/workloads.ts'
import { countRequests, evictionTimes, listing, total } from './audit-log.ts'
import { Bed, until } from './bed.ts'
import { type Bench, mean, median } from './figure.ts'
import { mostAway, NodeOutages, type Outage, slotWaits } from './node-outages.ts'
import { cpuNow, cpuSince } from './process-cpu.ts'

const size = { nodes: 100, podsPerNode: 10, atOnce: 10, workSeconds: 2, workloads: 20, agentProcesses: 2 }
const updateName = 'bench'
/** Events and the last status are written a moment after the end. */
const trailingMs = 2_000

export const realRollout: Bench = {
  name: 'real-rollout',
  alone: true,
  async measure(signal) {
    const bed = await Bed.start({ controllers: true, audit: true }, signal)
    try {
      const ours = await populate(bed, signal)
      const pids = { ...bed.server.pids, ...ours, bench: process.pid }
      const outages = await NodeOutages.watch(bed, signal)
      await bed.addScript(updateName, signal)
      const cpuBefore = cpuNow(pids)
      const from = new Date()
      await bed.createUpdate(updateName, size.atOnce, signal)
      await succeeded(bed, signal)
      const rolloutSeconds = (Date.now() - from.getTime()) / 1000
      const cpu = cpuSince(cpuBefore, pids)
      await wait(trailingMs, undefined, { signal })
      const counts = await countRequests(bed.server.auditLogPath, ['operator', 'agent'], from, new Date())
      const ended = outages.ended(await evictionTimes(bed.server.auditLogPath))
      return {
        figures: figures(ended, counts),
        seen: { rolloutSeconds, ...details(ended), ...cpu, requests: listing(counts) },
      }
    } finally {
      await bed.stop()
    }
  },
}

/** Returns the processes of ours that run on it. */
async function populate(bed: Bed, signal: AbortSignal): Promise<Record<string, number>> {
  await bed.addNodes(size.nodes, size.agentProcesses, signal)
  const ours: Record<string, number> = {}
  for (let part = 0; part < size.agentProcesses; part++) {
    ours[`agents-${part}`] = bed.startAgents(part, size.workSeconds).pid
  }
  ours.operator = (await bed.startOperator()).pid
  await bed.settled(size.nodes, true, signal)
  await ensureNamespace(bed.api, 'shop', signal)
  const count = size.nodes * size.podsPerNode
  for (let index = 0; index < size.workloads; index++) {
    const workload = { namespace: 'shop', name: `web-${index + 1}`, replicas: count / size.workloads }
    await createWorkload(bed.api, workload, signal)
  }
  const running = await bed.follow(pods, { namespace: 'shop' }, signal)
  await until(`${count} running pods`, async () => {
    const up = [...running.values()].filter(({ status }) => status?.phase === 'Running')
    return up.length === count
  })
  // Whoever still writes down what was just made has time to.
  await wait(5_000, undefined, { signal })
  return ours
}

async function succeeded(bed: Bed, signal: AbortSignal): Promise<void> {
  await until(
    'the update to end',
    async () => {
      const { status } = await bed.api.get(directUpdates, { name: updateName }, signal)
      if (status?.phase === 'Failed' || status?.phase === 'RequiresAttention') {
        throw new Error(`the update ended ${status.phase}: ${JSON.stringify(status.nodes?.[0])}`)
      }
      return status?.phase === 'Succeeded'
    },
    300_000,
  )
}

function beyondSeconds({ cordonedMs, uncordonedMs, firstAskedMs, lastGoneMs }: Outage): number {
  return (uncordonedMs - cordonedMs - (lastGoneMs - firstAskedMs)) / 1000 - size.workSeconds
}

/** Where the time beyond drain and work goes: these add up to it. */
function shares(outages: readonly Outage[]) {
  const between = (from: keyof Omit<Outage, 'node'>, to: keyof Omit<Outage, 'node'>) =>
    mean(outages.map((outage) => (outage[to] - outage[from]) / 1000))
  return {
    cordonToFirstEviction: between('cordonedMs', 'firstAskedMs'),
    lastPodGoneToOrder: between('lastGoneMs', 'orderedMs'),
    orderToReportBeyondWork: between('orderedMs', 'reportedMs') - size.workSeconds,
    reportToUncordon: between('reportedMs', 'uncordonedMs'),
  }
}

function figures(outages: readonly Outage[], counts: ReadonlyMap<string, number>) {
  if (outages.length !== size.nodes) throw new Error(`${outages.length} nodes came back, not ${size.nodes}`)
  const requests = total(counts, (key) => !key.endsWith('pods/eviction')) / size.nodes
  const where = `${size.nodes} nodes, ${size.podsPerNode} pods each, ${size.atOnce} at once`
  return [
    {
      what: `seconds a free slot waits, mean (real API server, ${where})`,
      measured: mean(slotWaits(outages, size.atOnce)),
      wanted: { atMost: 0.25 },
      unit: 's',
    },
    {
      what: 'the same run: seconds a node is out beyond drain and work, mean',
      measured: mean(outages.map(beyondSeconds)),
      wanted: { atMost: 0.3 },
      unit: 's',
    },
    {
      what: 'the same run: API requests per node besides evictions',
      measured: requests,
      wanted: { atMost: 18 },
      unit: '',
    },
  ]
}

function details(outages: readonly Outage[]) {
  return {
    slotWaitMedian: median(slotWaits(outages, size.atOnce)),
    beyondMedian: median(outages.map(beyondSeconds)),
    drainMean: mean(outages.map(({ firstAskedMs, lastGoneMs }) => (lastGoneMs - firstAskedMs) / 1000)),
    ...shares(outages),
    mostAway: mostAway(outages),
  }
}
