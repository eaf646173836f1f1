import type { DirectUpdate } from '../../api/direct-update.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { ExplainedWait } from '../../cli/dependencies.ts'
import { isInGoodOrder } from '../../core/drain/in-good-order.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

interface Wait {
  readonly code: string
  readonly message: string
  readonly sinceMs: number
}

interface Sum {
  times: number
  totalMs: number
  longest: { readonly ms: number; readonly who: string; readonly message: string }
}

/** Why nodes and updates waited, for how long, and who longest: what `--explain` tells. */
export class RunWaits {
  readonly #open = new Map<string, Wait>()
  readonly #sums = new Map<string, Sum>()
  #nowMs = () => 0

  watch(cluster: SimCluster): void {
    this.#nowMs = () => cluster.clock.monotonicMs()
    cluster.server.onCommit((change) => this.#note(change))
  }

  /** The next run begins with nothing that waits. */
  ended(): void {
    for (const who of [...this.#open.keys()]) this.#close(who)
  }

  /** What took longest in all comes first. */
  explained(): readonly ExplainedWait[] {
    return [...this.#sums]
      .map(
        ([
          code,
          {
            times,
            totalMs,
            longest: { ms, who, message },
          },
        ]) => ({
          code,
          times,
          totalSeconds: Math.round(totalMs / 1000),
          longest: { seconds: Math.round(ms / 1000), who, message },
        }),
      )
      .toSorted((a, b) => b.totalSeconds - a.totalSeconds)
  }

  #note({ kind, before, after }: CommittedChange): void {
    const object = after ?? before
    if (kind === 'NodeState') {
      const { reason } = (after as NodeState | undefined)?.status?.rollout ?? {}
      this.#see(`node ${object?.metadata.name}`, reason && isInGoodOrder(reason) ? undefined : reason)
    } else if (kind === 'DirectUpdate') {
      const { conditions } = (after as DirectUpdate | undefined)?.status ?? {}
      const blocked = conditions?.find(({ type, status }) => type === 'Blocked' && status === 'True')
      this.#see(`update ${object?.metadata.name}`, blocked && { code: blocked.reason, message: blocked.message })
    }
  }

  #see(who: string, reason: { readonly code: string; readonly message: string } | undefined): void {
    const open = this.#open.get(who)
    if (open?.code === reason?.code) return
    this.#close(who)
    if (reason) this.#open.set(who, { code: reason.code, message: reason.message, sinceMs: this.#nowMs() })
  }

  #close(who: string): void {
    const open = this.#open.get(who)
    this.#open.delete(who)
    if (!open) return
    const ms = this.#nowMs() - open.sinceMs
    const longest = { ms, who, message: open.message }
    const sum = this.#sums.get(open.code) ?? { times: 0, totalMs: 0, longest }
    sum.times++
    sum.totalMs += ms
    if (ms > sum.longest.ms) sum.longest = longest
    this.#sums.set(open.code, sum)
  }
}
