import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Driver } from '../driver.ts'
import { osImageDriver } from './osimage-driver.ts'
import { stagedTree } from './staged-tree.ts'

const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]

/** A driver that runs a program of the new image before it is booted, as kubeadm's does. */
function machine(onTree: (tree: string | undefined, starts: number) => void) {
  const bench = new AgentBench()
  let starts = 0
  const early: Driver = {
    name: 'early',
    concerns: () => true,
    inspect: () => Promise.resolve({}),
    steps: () => [
      {
        name: 'early',
        disruptive: false,
        attempts: 1,
        act: async (context, signal) => {
          starts += 1
          onTree(await stagedTree(context, signal), starts)
          if (starts === 1) await new Promise((_, reject) => signal.addEventListener('abort', reject, { once: true }))
        },
      },
    ],
    undo: { possible: false, because: 'it did nothing', endsUndo: 'Never' },
  }
  bench.drivers = [early, osImageDriver({ clock: bench.clock, signatures: keyPairSignatures })]
  const tools = new PretendImageTools(bench, 'rpm-ostree', old)
  tools.publish('stable', next)
  tools.publish('old', old)
  const begin = (tag: string | undefined) => {
    const work = tag === undefined ? { reboot: 'Never' as const } : { os: { image: `${repository}:${tag}` } }
    bench.cluster.place(scriptOrder({ work, rollback: 'Image' }))
    bench.start()
  }
  return { bench, tools, begin }
}

describe('the tree of the new image', () => {
  it('is there before it is booted, also after a power loss', async () => {
    const trees: (string | undefined)[] = []
    const { bench, tools, begin } = machine((tree) => trees.push(tree))
    begin('stable')
    await bench.clock.until(() => trees.length === 1)
    expect(tools.staged?.digest).toBe(next.digest)
    tools.boot('power loss')
    await tools.until('Succeeded')
    const root = `/ostree/deploy/os/deploy/${next.digest.slice('sha256:'.length)}.0`
    expect(trees).toEqual([root, root])
    expect(tools.booted.digest).toBe(next.digest)
  })

  it.each([
    ['the root where it is booted already', 'old', '/'],
    ['nothing where the order has no image', undefined, undefined],
  ])('is %s', async (_, tag, expected) => {
    const trees: (string | undefined)[] = []
    const { bench, begin } = machine((tree) => trees.push(tree))
    begin(tag)
    await bench.clock.until(() => trees.length === 1)
    expect(trees).toEqual([expected])
    bench.kill()
  })
})
