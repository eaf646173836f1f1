import { describe, expect, it } from 'vitest'
import { type Pod, pods } from '../../api/kube.ts'
import { SeededRandom } from '../seeded-random.ts'
import { SimCluster } from '../sim-cluster.ts'
import { isReady } from './actor.ts'
import { KubeletPods } from './kubelet-pods.ts'

const { signal } = new AbortController()
const ref = { name: 'web', namespace: 'default' }
const startMs = 500

/** One node's pods and a server whose events reach them when the test says so. */
class Bench {
  readonly cluster = new SimCluster({ seed: 1, nodes: [], which: [] }).start()
  readonly #lives: KubeletPods
  readonly #running = new Set<string>()
  #seen: Pod | undefined

  constructor(isSick: (pod: Pod) => boolean = () => false) {
    const { api, clock } = this.cluster.process('kubelet')
    this.cluster.server.create('test', pods, {
      metadata: ref,
      spec: { nodeName: 'w1', containers: [{ name: 'main', image: 'pretend' }] },
    })
    this.sayReady('True')
    const containers = {
      isRunning: (uid: string) => this.#running.has(uid),
      start: ({ metadata }: Pod) => void this.#running.add(metadata.uid),
      stop: () => 'gone' as const,
    }
    const took = { podStartMs: [startMs, startMs], podStopMs: [0, 0], jobMs: [0, 0] } as const
    const failed = (error: unknown) => expect.unreachable(String(error))
    this.#lives = new KubeletPods(
      { api, clock, random: new SeededRandom(1), containers, isSick, ...took },
      failed,
      signal,
    )
  }

  get pod(): Pod {
    const pod = this.cluster.server.peek(pods, ref)
    if (pod === undefined) throw new Error('the pod is gone')
    return pod
  }

  /** The event of how it stands now arrives. */
  see(pod = this.pod): void {
    const before = this.#seen
    this.#seen = pod
    this.#lives.see(pod, before)
  }

  async pass(ms: number): Promise<void> {
    await this.cluster.run({ limitMs: ms })
  }

  sayReady(status: 'True' | 'False'): void {
    const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status }] } }
    this.cluster.server.patch('lifecycle', pods, ref, { type: 'merge', body }, 'status')
  }
}

describe('the pods of a machine that came up again', () => {
  it('are ready once they run, though the word that they are not arrives after they do', async () => {
    const bench = new Bench()
    expect(isReady(bench.pod)).toBe(true)
    bench.see()
    await bench.pass(startMs / 2)
    const unready = bench.pod
    expect(isReady(unready)).toBe(false)
    await bench.pass(startMs)
    bench.see(unready)
    await bench.pass(startMs)
    expect(isReady(bench.pod)).toBe(true)
  })

  it('are ready again when another said that they are not', async () => {
    const bench = new Bench()
    bench.see()
    await bench.pass(startMs / 2)
    bench.see()
    await bench.pass(startMs)
    bench.see()
    expect(isReady(bench.pod)).toBe(true)
    bench.sayReady('False')
    bench.see()
    await bench.pass(startMs)
    expect(isReady(bench.pod)).toBe(true)
  })

  it('stay unready where they are sick', async () => {
    const bench = new Bench(() => true)
    bench.see()
    await bench.pass(startMs / 2)
    bench.see()
    await bench.pass(2 * startMs)
    bench.see()
    expect(isReady(bench.pod)).toBe(false)
  })
})
