import { createHash } from 'node:crypto'
import type { RecordedRun } from '../../api/simulation-record.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

const every = 1000

/** Follows every write of a run: who, when, and what came of it. */
export class RunDigest {
  readonly #hash = createHash('sha256')
  readonly #marks: string[] = []
  #writes = 0

  watch(cluster: SimCluster): void {
    cluster.server.onCommit(({ type, kind, before, after, client, time }) => {
      this.#hash.update(`${JSON.stringify([time, client, type, kind, after ?? before])}\n`)
      if (++this.#writes % every === 0) this.#marks.push(this.#hash.copy().digest('hex'))
    })
  }

  recorded(seed: number): RecordedRun {
    return { seed, writes: this.#writes, sha256: [...this.#marks, this.#hash.copy().digest('hex')] }
  }
}
