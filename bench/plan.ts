import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from './figure.ts'
import { largeSnapshot } from './large-snapshot.ts'

const nodes = 5000
const podsPerNode = 30

interface Once {
  readonly nodes: number
  readonly seconds: number
  readonly processorSeconds: number
  readonly mostMiB: number
}

export const plan: Bench = {
  name: 'plan',
  alone: true,
  async measure(signal) {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-plan-'))
    try {
      const file = join(folder, 'cluster.json')
      writeFileSync(file, JSON.stringify(largeSnapshot(nodes, podsPerNode)))
      const { stdout } = await promisify(execFile)(process.execPath, ['bench/plan-once.ts', file], { signal })
      const { nodes: planned, seconds, processorSeconds, mostMiB } = JSON.parse(stdout) as Once
      if (planned !== nodes) throw new Error(`only ${planned} of ${nodes} nodes were planned: ${stdout}`)
      const what = `slipway plan for ${nodes} nodes and ${nodes * podsPerNode} pods, after the download`
      return {
        figures: [
          { what, measured: seconds, wanted: { atMost: 20 }, unit: 's' },
          { what: `${what}: memory`, measured: mostMiB, wanted: { atMost: 600 }, unit: 'MiB' },
        ],
        seen: { processorSeconds },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}
