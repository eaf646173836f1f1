// The operator's memory on a big cluster, at rest and during a rollout: the bundle, started as the shipped Deployment starts it.

import { setTimeout as wait } from 'node:timers/promises'
import { directUpdates } from '../src/api/direct-update.ts'
import { pods } from '../src/api/kube.ts'
import { ensureNamespace } from '../src/sim/workloads.ts'
import { Bed, inParallel, until } from './bed.ts'
import type { Bench } from './figure.ts'
import { memoryOf } from './process-memory.ts'
import { operatorNodeFlags } from './shipped-flags.ts'
import { buildBundle } from './slipway-process.ts'

/** One node of a hundred takes part in the rollout; the agents of the others need not run for it. */
const parts = 100
const restMs = 60_000
const updateName = 'scale'

export function operatorMemory(size: { readonly nodes: number; readonly pods: number }): Bench {
  return {
    name: 'operator-memory',
    alone: true,
    async measure(signal) {
      const bundle = await buildBundle()
      const bed = await Bed.start({ controllers: false }, signal)
      try {
        await bed.addNodes(size.nodes, parts, signal)
        await addPods(bed, size, signal)
        const args = await bed.operatorArguments()
        const operator = bed.keep(bundle.start(operatorNodeFlags(), args, bed.logPath('operator')))
        const peak = new Peak(operator.pid)
        bed.startAgents(0, 2)
        await bed.settled(size.nodes, false, signal)
        const syncPeakMiB = peak.take()
        await wait(restMs, undefined, { signal })
        const rest = memoryOf(operator.pid)
        peak.take()
        await rollOut(bed, signal)
        const rolloutPeakMiB = peak.end()
        const where = `${size.nodes.toLocaleString('en')} nodes and ${size.pods.toLocaleString('en')} pods`
        const figure = { wanted: { atMost: 200 }, unit: 'MiB' }
        return {
          figures: [
            { ...figure, what: `operator RSS, ${where}, at rest`, measured: rest.rssMiB },
            { ...figure, what: 'the same, most during a rollout', measured: rolloutPeakMiB },
          ],
          seen: { syncPeakMiB, restPrivateDirtyMiB: rest.privateDirtyMiB, flags: operatorNodeFlags().join(' ') },
        }
      } finally {
        await bed.stop()
      }
    },
  }
}

async function addPods(bed: Bed, size: { nodes: number; pods: number }, signal: AbortSignal): Promise<void> {
  await ensureNamespace(bed.api, 'shop', signal)
  const labels = { app: 'web', 'app.kubernetes.io/name': 'web', tier: 'front' }
  const containers = [{ name: 'main', image: 'registry.example/shop/web:1.2.3', args: ['serve', '--port=8080'] }]
  await inParallel(
    size.pods,
    (index) => {
      const nodeName = `node-${(index % size.nodes) + 1}`
      const metadata = { name: `web-${index}`, namespace: 'shop', labels }
      return bed.api.create(pods, { metadata, spec: { nodeName, containers } }, signal)
    },
    48,
  )
}

async function rollOut(bed: Bed, signal: AbortSignal): Promise<void> {
  await bed.addScript(updateName, signal)
  await bed.createUpdate(updateName, 10, signal, {
    nodeSelector: { matchLabels: { part: '0' } },
    // Nothing here makes pods again.
    drain: { unmanagedPods: 'Delete' },
  })
  await until(
    'the update to end',
    async () => (await bed.api.get(directUpdates, { name: updateName }, signal)).status?.phase === 'Succeeded',
    300_000,
  )
}

/** The most a process held since it was last asked. */
class Peak {
  readonly #pid: number
  readonly #timer: NodeJS.Timeout
  #mostMiB = 0

  constructor(pid: number) {
    this.#pid = pid
    this.#timer = setInterval(() => this.#look(), 250)
  }

  take(): number {
    this.#look()
    const most = this.#mostMiB
    this.#mostMiB = 0
    return most
  }

  end(): number {
    clearInterval(this.#timer)
    return this.take()
  }

  #look(): void {
    this.#mostMiB = Math.max(this.#mostMiB, memoryOf(this.#pid).rssMiB)
  }
}
