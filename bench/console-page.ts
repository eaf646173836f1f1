// The console with 5,000 nodes in a real browser: how soon it is there, how soon a change is, and what it takes to look on.

import { setTimeout as wait } from 'node:timers/promises'
import { nodes } from '../src/api/kube.ts'
import { startBrowser } from '../test/bed/chromium.ts'
import { setup as buildPage } from '../test/browser/build-page.ts'
import { startConsole } from '../test/browser/console-server.ts'
import { PageFigures } from '../test/browser/page-figures.ts'
import { openPage } from '../test/browser/page-view.ts'
import { readStream } from '../test/browser/stream-reader.ts'
import { type Bench, median } from './figure.ts'

const nodeCount = 5000
const opened = 5
const watching = 20
const idleSeconds = 20
/** A kubelet posts its status every five minutes when nothing changes. */
const heartbeatEveryMs = 300_000 / nodeCount

export const consolePage: Bench = {
  name: 'console-page',
  alone: true,
  async measure(signal) {
    await buildPage()
    const bed = await startConsole({ situation: 'large', nodes: nodeCount })
    const browser = await startBrowser()
    try {
      const paints: number[] = []
      for (let at = 0; at < opened; at++) {
        const from = performance.now()
        const { page } = await openPage(browser, bed, 'fleet')
        paints.push((performance.now() - from) / 1000)
        await page.close()
      }
      const view = await openPage(browser, bed, 'fleet')
      const figures = await PageFigures.of(browser, view)
      const took = await figures.changesToPixel(bed, ['Failed', 'Working', 'Failed', 'Working', 'Failed'])
      const readers = await Promise.all(Array.from({ length: watching }, () => readStream(bed)))
      const before = bed.console.hub.serialised
      await bed.large?.setPhase(bed.large.names[3000] ?? '', 'Draining')
      await wait(1000, undefined, { signal })
      const serialised = bed.console.hub.serialised - before
      const untold = readers.filter(({ changes }) => changes.length === 0).length
      for (const reader of readers) reader.close()
      if (untold > 0) throw new Error(`${untold} of ${watching} streams were not told of the change`)
      const heapMB = await figures.heapMB()
      const stopBeating = heartbeats(bed, signal)
      const cpu = process.cpuUsage()
      const ratio = await figures.idleRatio(idleSeconds)
      const { user, system } = process.cpuUsage(cpu)
      await stopBeating()
      const of = `console with ${nodeCount.toLocaleString('en')} nodes`
      return {
        figures: [
          {
            what: `${of}: from its address to all of them drawn`,
            measured: median(paints),
            wanted: { atMost: 1.5 },
            unit: 's',
          },
          { what: `${of}: from a write to its pixel`, measured: median(took), wanted: { atMost: 200 }, unit: 'ms' },
          { what: `${of}: heap of the page`, measured: heapMB, wanted: { atMost: 60 }, unit: 'MB' },
          { what: `${of}: page looking on, of a core`, measured: ratio * 100, wanted: { atMost: 1 }, unit: '%' },
          {
            what: `texts made of one change for ${watching + 1} browsers`,
            measured: serialised,
            wanted: { atMost: 1 },
            unit: '',
          },
        ],
        // With the simulated API server and what beats the hearts, which are in the same process.
        seen: { serverCpuPercent: (user + system) / 1e4 / idleSeconds, opened, slowestPaint: Math.max(...paints) },
      }
    } finally {
      await browser.close()
      await bed.stop()
    }
  },
}

/** What an idle cluster writes: nothing of it is to be seen. */
function heartbeats(bed: Awaited<ReturnType<typeof startConsole>>, signal: AbortSignal): () => Promise<void> {
  let isOver = false
  const beat = async () => {
    for (let at = 0; !isOver; at++) {
      const name = bed.large?.names[at % nodeCount] ?? ''
      const body = { metadata: { annotations: { heartbeat: String(at) } } }
      await bed.person.patch(nodes, { name }, { type: 'merge', body }, signal)
      await wait(heartbeatEveryMs, undefined, { signal })
    }
  }
  const beating = beat()
  return async () => {
    isOver = true
    await beating
  }
}
