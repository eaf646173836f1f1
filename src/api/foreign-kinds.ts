// The kinds of other systems that are carried out where they are installed.

import { cupcakeDirectUpdates, cupcakeScheduledUpdates, cupcakeUpdateSchedules } from './cupcake.ts'
import { housekeeperUpdates } from './housekeeper.ts'
import type { ResourceType } from './kube.ts'

export const foreignKinds: readonly ResourceType[] = [
  cupcakeDirectUpdates,
  cupcakeScheduledUpdates,
  cupcakeUpdateSchedules,
  housekeeperUpdates,
]

/** The name of a kind's definition. */
export function definitionName({ apiVersion, plural }: ResourceType): string {
  return `${plural}.${apiVersion.slice(0, apiVersion.indexOf('/'))}`
}
