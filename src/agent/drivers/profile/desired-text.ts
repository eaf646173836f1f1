import { type DesiredState, desiredStateSchema } from '../../../api/desired-state.ts'

/** Undefined for anything but a desired state of a format this agent knows. */
export function parseDesired(text: string): DesiredState | undefined {
  try {
    return desiredStateSchema.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
