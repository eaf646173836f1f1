// In what order and how many at a time: one mechanism, waves. The types are presets of it.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { countOrPercent, durationText, instantText, objectName } from './scalars.ts'

export const strategyTypes = ['Rolling', 'Parallel', 'Canary', 'Batches'] as const
const promotions = ['Automatic', 'Manual'] as const

const waveSchema = z.strictObject({
  size: countOrPercent.describe(
    'how many of the workers with work to do are done when this wave is, those of the waves before counted in',
  ),
  soak: durationText.optional().describe('how long to look at what this wave did before the next begins'),
  promotion: z
    .enum(promotions)
    .optional()
    .describe('Manual: the next wave waits for an entry in spec.approvals. Default Automatic'),
})

type WaveSpec = z.infer<typeof waveSchema>

const shrinking = 'has a wave that is smaller than the one before: sizes are cumulative, so they must not shrink'
const unfinished = 'ends with a wave below 100%: nodes would be left out for good; make the last size 100%'
const nothingFollows = 'asks for approval after its last wave: nothing follows it; remove its promotion'

// Conversions straight from the field: its length is bounded, that of a text made in between is not.
const counts = 'self.map(w, type(w.size) == int, int(w.size))'
const shares = "self.map(w, type(w.size) == string, int(w.size.replace('%', '')))"

const wavesSchema = z
  .array(waveSchema)
  .min(1)
  .max(16)
  .refine((waves) => !isShrinking(waves), shrinking)
  .refine((waves) => waves.at(-1)?.size === '100%', unfinished)
  .refine((waves) => waves.at(-1)?.promotion !== 'Manual', nothingFollows)
  .meta(
    celRules(
      { rule: `${counts}.isSorted() && ${shares}.isSorted()`, message: shrinking },
      { rule: "self[size(self) - 1].size == '100%'", message: unfinished },
      {
        rule: "!has(self[size(self) - 1].promotion) || self[size(self) - 1].promotion != 'Manual'",
        message: nothingFollows,
      },
    ),
  )

/** A count and a percentage are told apart only by the cluster: there the larger of the two holds. */
function isShrinking(waves: readonly WaveSpec[]): boolean {
  const sizes = waves.map(({ size }) => size)
  const percents = sizes.flatMap((size) => (typeof size === 'string' ? [Number.parseInt(size, 10)] : []))
  const numbers = sizes.flatMap((size) => (typeof size === 'number' ? [size] : []))
  return [numbers, percents].some((row) => row.some((size, index) => size < (row[index - 1] ?? 0)))
}

const fields = {
  type: z
    .enum(strategyTypes)
    .optional()
    .describe(
      'Rolling: one wave. Parallel: one wave, all at once. Canary: one node, a soak of 15m and an approval, then 10%, then all. Batches: quarters. Default Rolling',
    ),
  maxUnavailable: countOrPercent
    .optional()
    .describe('of the selected workers; the policy’s budgets hold on top. Default 1, with Parallel 100%'),
  maxFailures: z
    .int()
    .min(0)
    .max(100_000)
    .optional()
    .describe('nodes that may fail before nothing more starts. Default 0'),
}

export const strategySchema = z.strictObject({
  ...fields,
  waves: wavesSchema.optional().describe('instead of those of the type. The control plane always comes before them'),
  first: z
    .array(objectName)
    .max(100)
    .optional()
    .describe('nodes that come before all others of their role, in this order, whatever their weight'),
})

const noApprovals =
  'asks for approval, and a NodeProfile has none: roll it out by a DirectUpdate (spec.rollout ByUpdate), or set waves without promotion Manual'

/** A profile rolls out by itself: nobody is there to approve. */
export const profileStrategySchema = strategySchema
  .refine(({ type, waves }) => !(type === 'Canary' && waves === undefined), noApprovals)
  .refine(({ waves = [] }) => waves.every(({ promotion }) => promotion !== 'Manual'), noApprovals)
  .meta(
    celRules(
      { rule: "!has(self.type) || self.type != 'Canary' || has(self.waves)", message: noApprovals },
      {
        rule: "!has(self.waves) || self.waves.all(w, !has(w.promotion) || w.promotion != 'Manual')",
        message: noApprovals,
      },
    ),
  )

export const waveStatusSchema = z
  .strictObject({
    index: z.int().min(0).describe('from 0; the control plane comes before and is none of them'),
    of: z.int().min(1),
    size: z.int().min(0).describe('so many workers are done when it is'),
    since: instantText,
    soakSince: instantText.optional().describe('its soak lasts as long as spec says now, counted from here'),
    soakUntil: instantText.optional(),
    promotion: z.enum(['Wanted']).optional().describe('the next wave waits for an approval'),
  })
  .describe('the wave of workers that may be taken now')

/** A profile may roll out what disturbs nobody and what needs a drain side by side. */
export const profileWaveSchema = waveStatusSchema.extend({ operationID: z.string().max(320) })

export type StrategySpec = z.infer<typeof strategySchema>
export type WaveStatus = z.infer<typeof waveStatusSchema>
export type ProfileWave = z.infer<typeof profileWaveSchema>
