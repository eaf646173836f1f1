// How long a person waits: for --help, and for status of a thousand nodes on a real API server; as it ships and from a checkout.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { directUpdates } from '../src/api/direct-update.ts'
import { nodeStates } from '../src/api/node-state.ts'
import { agentOf, nodeState } from '../test/cli/cli-fixture.ts'
import { Bed, inParallel } from './bed.ts'
import { type Bench, median } from './figure.ts'
import { builtProgram } from './slipway-process.ts'

const nodeCount = 1000
const runs = 11
const update = 'to-1-36'

const checkout = fileURLToPath(new URL('../slipway', import.meta.url))

export const commandLine: Bench = {
  name: 'command-line',
  alone: true,
  async measure(signal) {
    const built = [process.execPath, await builtProgram()]
    const cache = mkdtempSync(join(tmpdir(), 'slipway-cache-'))
    const bed = await Bed.start({ controllers: false }, signal)
    try {
      await fill(bed, signal)
      const cluster = ['--kubeconfig', bed.server.kubeconfigPath]
      const env = { ...process.env, XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '' }
      // On a busy machine the fastest run says more of the program than the median.
      const fastest: number[] = []
      const medianMs = async (command: readonly string[], args: readonly string[], expected: string) => {
        const times: number[] = []
        for (let run = 0; run < runs; run++) times.push(await onceMs([...command, ...args], expected, env, signal))
        fastest.push(Math.round(Math.min(...times)))
        return median(times)
      }
      const status = ['status', ...cluster]
      const help = { wanted: { atMost: 120 }, unit: 'ms' } as const
      const answer = { wanted: { atMost: 500 }, unit: 'ms' } as const
      const what = `slipway status for ${nodeCount} nodes`
      const figures = [
        { what: 'slipway --help', measured: await medianMs(built, ['--help'], 'Usage: slipway'), ...help },
        { what: 'the same from a checkout', measured: await medianMs([checkout], ['--help'], 'Usage:'), ...help },
        { what, measured: await medianMs(built, status, `/${nodeCount}`), ...answer },
        {
          what: `${what}, of one update`,
          measured: await medianMs(built, [...status, update], 'node-999'),
          ...answer,
        },
        {
          what: `${what}, from a checkout`,
          measured: await medianMs([checkout], status, `/${nodeCount}`),
          ...answer,
        },
      ]
      const node = await medianMs([process.execPath], ['--eval', 'console.log(1)'], '1')
      return { figures, seen: { runs, node, fastest: fastest.join(' ') } }
    } finally {
      await bed.stop()
      rmSync(cache, { recursive: true })
    }
  },
}

/** Nodes whose agents have reported, and an update that is under way on all of them. */
async function fill(bed: Bed, signal: AbortSignal): Promise<void> {
  const { api } = bed
  await bed.addNodes(nodeCount, 1, signal)
  const { apiVersion, kind } = nodeStates
  await inParallel(nodeCount, async (index) => {
    const name = `node-${index + 1}`
    const phase = index % 20 === 0 ? 'Draining' : 'Pending'
    await api.create(nodeStates, { apiVersion, kind, metadata: { name }, spec: {} }, signal)
    const { status } = nodeState(name, { phase }, agentOf())
    await api.patch(nodeStates, { name }, { type: 'merge', body: { status } }, signal, 'status')
  })
  const spec = { kubernetes: { version: 'v1.36.3' } }
  const made = { apiVersion: directUpdates.apiVersion, kind: directUpdates.kind, metadata: { name: update }, spec }
  await api.create(directUpdates, made, signal)
  const summary = { total: nodeCount, done: 0, working: 50, waiting: nodeCount - 50, failed: 0, skipped: 0 }
  const status = { phase: 'InProgress', operationID: 'to-1-36/1a2b3c4d-1-f00d', summary }
  await api.patch(directUpdates, { name: update }, { type: 'merge', body: { status } }, signal, 'status')
}

async function onceMs(
  [program = '', ...args]: readonly string[],
  expected: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const beganAt = performance.now()
  const { stdout } = await promisify(execFile)(program, args, { env, signal, maxBuffer: 2 ** 24 })
  const tookMs = performance.now() - beganAt
  if (!stdout.includes(expected)) throw new Error(`${args.join(' ')} did not say ${expected}: ${stdout.slice(0, 500)}`)
  return tookMs
}
