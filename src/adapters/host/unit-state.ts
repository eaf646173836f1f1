import { z } from 'zod'

export interface UnitState {
  readonly isRunning: boolean
  /** Names one run of the unit for good; empty where it is not loaded. */
  readonly invocation: string
  readonly mainPid: number
}

const propertiesSchema = z.object({
  ActiveState: z.string(),
  InvocationID: z.string().default(''),
  MainPID: z.coerce.number().int().default(0),
})

/** What `systemctl show` prints: one `Name=value` a line. A unit that is not there is shown as inactive. */
export function parseUnitState(text: string): UnitState {
  const entries = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : []
  })
  const { ActiveState, InvocationID, MainPID } = propertiesSchema.parse(Object.fromEntries(entries))
  return {
    isRunning: ActiveState !== 'inactive' && ActiveState !== 'failed',
    invocation: InvocationID,
    mainPid: MainPID,
  }
}
