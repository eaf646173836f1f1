import { z } from 'zod'

export interface UnitState {
  /** Also what failed and left processes: systemd gives up on those that cannot be killed, but they are there. */
  readonly isRunning: boolean
  /** Names one run of the unit for good; empty where it is not loaded. */
  readonly invocation: string
  readonly mainPid: number
}

const notCounted = '[not set]'
/** How older versions say that. */
const noNumber = String(2n ** 64n - 1n)

const propertiesSchema = z.object({
  ActiveState: z.string(),
  InvocationID: z.string().default(''),
  MainPID: z.coerce.number().int().default(0),
  TasksCurrent: z.string().default(notCounted),
})

/** What `systemctl show` prints: one `Name=value` a line. A unit that is not there is shown as inactive. */
export function parseUnitState(text: string): UnitState {
  const entries = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : []
  })
  const { ActiveState, InvocationID, MainPID, TasksCurrent } = propertiesSchema.parse(Object.fromEntries(entries))
  const isEmpty = [notCounted, noNumber, '0'].includes(TasksCurrent)
  return {
    isRunning: !isEmpty || (ActiveState !== 'inactive' && ActiveState !== 'failed'),
    invocation: InvocationID,
    mainPid: MainPID,
  }
}
