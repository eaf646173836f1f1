import { parseDuration } from '../../core/duration.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { sleep } from '../../kube/sleep.ts'
import { Bell } from '../bell.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import type { Keeping } from './leftovers.ts'
import { prune } from './prune.ts'

const defaults = { keepOperations: 20, keepFor: '720h' }
const allLogBytes = 256 * 1024 * 1024
const dayMs = 24 * 3_600_000

/** Clears away what ended orders left, when another order came, when the policy changed, and once a day. */
export const historyKeeper: SideTask = {
  name: 'history',
  run: async (context, signal) => {
    const { store, clock, random } = context
    const bell = new Bell()
    let seen = policyOf(context)
    const unsubscribe = store.subscribe(() => {
      const now = policyOf(context)
      if (!equalJson(now, seen)) bell.ring()
      seen = now
    })
    const end = new LinkedAbort(signal)
    const daily = async () => {
      for (;;) {
        await sleep(clock, dayMs * (0.75 + random.next() / 2), end.signal)
        bell.ring()
      }
    }
    const days = daily()
    try {
      for (;;) {
        // Before the NodeState is known nobody can say which order is open.
        if (seen) {
          const { host, log, stateDir } = context
          const options = { disk: host.disk, log, stateDir, keeping: keepingOf(seen), openOrder: seen.order }
          await prune(options, clock.now())
        }
        await bell.heard(signal)
      }
    } finally {
      unsubscribe()
      end.abort('the keeper ended')
      await Promise.allSettled([days])
    }
  },
}

interface Policy {
  readonly order: string | undefined
  readonly keepOperations: number
  readonly keepFor: string
}

function policyOf({ store, nodeName }: SideTaskContext): Policy | undefined {
  const spec = store.get(nodeName)?.spec
  return spec && { order: spec.order?.id, ...defaults, ...spec.history }
}

function keepingOf({ keepOperations, keepFor }: Policy): Keeping {
  return { operations: keepOperations, forMs: parseDuration(keepFor), logBytes: allLogBytes }
}
