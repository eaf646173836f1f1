import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Order } from '../../../api/node-state.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Driver } from '../driver.ts'
import { hasGuardFiles } from './boot-guard.ts'
import { osImageDriver } from './osimage-driver.ts'
import { stagedTree } from './staged-tree.ts'

const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]

type OnTree = (tree: string | undefined, starts: number) => Promise<void> | void

/** A driver that runs a program of the new image before it is booted, as kubeadm's does. What it did cannot be taken back. */
function machine(onTree: OnTree) {
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
          await onTree(await stagedTree(context, signal), starts)
          if (signal.aborted) throw signal.reason
        },
      },
    ],
    undo: { possible: false, because: 'it has run', endsUndo: 'WhenBegun' },
  }
  bench.drivers = [early, osImageDriver({ clock: bench.clock, signatures: keyPairSignatures })]
  const tools = new PretendImageTools(bench, 'rpm-ostree', old)
  tools.publish('stable', next)
  tools.publish('old', old)
  const place = (tag: string | undefined, part: Partial<Order> = {}) => {
    const work = tag === undefined ? { reboot: 'Never' as const } : { os: { image: `${repository}:${tag}` } }
    bench.cluster.place(scriptOrder({ work, rollback: 'Image', ...part }))
  }
  const begin = (tag: string | undefined, part: Partial<Order> = {}) => {
    place(tag, part)
    bench.start()
  }
  return { bench, tools, begin, place }
}

describe('the tree of the new image', () => {
  it('is there before it is booted, also after a power loss', async () => {
    const trees: (string | undefined)[] = []
    const { bench, tools, begin } = machine(async (tree, starts) => {
      trees.push(tree)
      // Until the power is lost.
      if (starts === 1) await new Promise(() => undefined)
    })
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
    const { bench, begin } = machine((tree) => {
      trees.push(tree)
    })
    begin(tag)
    await bench.clock.until(() => trees.length === 1)
    expect(trees).toEqual([expected])
    bench.kill()
  })

  const isLeft = async ({ bench, tools }: ReturnType<typeof machine>) => ({
    staged: tools.staged?.digest,
    guard: await hasGuardFiles(bench.host),
    reboots: bench.host.reboots,
  })
  const nothing = { staged: undefined, guard: false, reboots: 0 }

  it('is dropped before the last word where the order is withdrawn before a step of the image began', async () => {
    const host = machine(() => host.place('stable', { desired: 'Withdraw' }))
    host.begin('stable')
    await host.bench.clock.until(host.bench.hasEnded('Withdrawn'))
    expect(await isLeft(host)).toEqual(nothing)
  })

  it.each(['Image', 'Never'] as const)(
    'is dropped before the last word where what ran in it fails (%s)',
    async (rollback) => {
      const host = machine(() => {
        throw new SlipwayError('StepFailed', 'kubeadm did not like it')
      })
      host.begin('stable', { rollback })
      await host.bench.clock.until(host.bench.hasEnded('Failed'))
      expect(await isLeft(host)).toEqual(nothing)
    },
  )
})
