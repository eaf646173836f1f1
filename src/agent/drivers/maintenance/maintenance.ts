// Maintenance by somebody else on the host: the node is empty, `in progress` says so, and whoever asked takes `required` away
// when it went well. Not taking it away is how that one says that it failed: the node stays cordoned and its slot held, however
// long, through reboots too.

import type { Order } from '../../../api/node-state.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Work } from '../../../api/work.ts'
import { LinkedAbort } from '../../../kube/linked-abort.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import { Bell } from '../../bell.ts'
import { ringOnChange } from '../../sentinels/ring-on-change.ts'
import { asks, touch } from '../../sentinels/sentinel-file.ts'
import type { ActStep, Driver, StepContext } from '../driver.ts'

export interface MaintenanceTools {
  readonly clock: Clock
  readonly random: Random
}

const attempts = 3

export function maintenanceDriver(tools: MaintenanceTools): Driver {
  return {
    name: 'maintenance',
    concerns: ({ work }) => work.maintenance !== undefined,
    inspect: async ({ host, order }) => {
      const { required, inProgress } = filesOf(order)
      return { required: await asks(host.files, required), inProgress: await asks(host.files, inProgress) }
    },
    steps: () => [maintenance(tools)],
    undo: { possible: false, because: 'only its author knows what a maintenance script did', endsUndo: 'WhenDone' },
  }
}

function maintenance(tools: MaintenanceTools): ActStep {
  return {
    name: 'maintenance',
    disruptive: true,
    attempts,
    waits: true,
    holds: async (context) => (await left(context)) === undefined,
    act: async (context, signal) => {
      const bell = new Bell()
      const done = new LinkedAbort(signal)
      const { required, inProgress } = filesOf(context.order)
      const looking = ringOnChange({ ...context, ...tools }, [required, inProgress], () => bell.ring(), done.signal)
      try {
        while (await letIn(context)) await bell.heard(signal)
        await context.host.files.remove(inProgress)
      } finally {
        done.abort('the maintenance is over')
        await Promise.allSettled([looking])
      }
    },
    missing: left,
  }
}

async function left({ host, order }: StepContext): Promise<string | undefined> {
  const { required, inProgress } = filesOf(order)
  if (await asks(host.files, required)) return `${required} is there`
  return (await asks(host.files, inProgress)) ? `${inProgress} is there` : undefined
}

/** True while it is asked for. After a reboot the word may have been lost with a folder in memory: it is given again. */
async function letIn({ host, order }: StepContext): Promise<boolean> {
  const { required, inProgress } = filesOf(order)
  if (!(await asks(host.files, required))) return false
  await touch(host.files, inProgress, `${order.id}\n`)
  return true
}

function filesOf({ id, work }: Order): NonNullable<Work['maintenance']> {
  if (work.maintenance) return work.maintenance
  throw new SlipwayError('Internal', `order ${id} asks for no maintenance`)
}
