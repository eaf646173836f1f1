import { z } from 'zod'
import { countOrPercent, labelKey, labelSelector } from './scalars.ts'

/** How many nodes of a set may be away at once: of the cluster, of those selected, or of each value of a label by itself. */
export const budgetSchema = z.strictObject({
  per: labelKey
    .optional()
    .describe(
      'each value of this label has the budget by itself, as topology.kubernetes.io/zone; nodes without it are one more value together',
    ),
  nodeSelector: labelSelector.optional().describe('the nodes it is for; absent = every node of the cluster'),
  maxUnavailable: countOrPercent.describe(
    'of the nodes of that very set, whatever they are away for; a percentage is of them, too',
  ),
})

export type BudgetSpec = z.infer<typeof budgetSchema>
