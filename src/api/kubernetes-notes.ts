// What the drivers of Kubernetes work remember of one order on the host's disk.

import { z } from 'zod'

/** The package repositories' files before and after they name the target's minor version. */
export const repositorySwitchesSchema = z.strictObject({
  switches: z.array(z.strictObject({ path: z.string(), before: z.string(), after: z.string() })).max(32),
})

/** In orders that were begun by an agent which kept no record of the upgrade in its state folder. */
export const upgradeBegunSchema = z.strictObject({ mode: z.enum(['apply', 'node']) })

/** A file as it was before a step changed it. */
export const fileBeforeSchema = z.strictObject({ content: z.string() })

/** What `crictl ps -o json` prints, as far as it is read. */
export const runningContainersSchema = z.object({
  containers: z.array(z.object({ id: z.string(), metadata: z.object({ name: z.string() }) })).default([]),
})
