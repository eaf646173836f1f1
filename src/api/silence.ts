// Silences in Alertmanager for nodes under work. They are short and prolonged while the work goes on, so that they lapse by
// themselves when nobody is there to do so.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { keyReference } from './key-reference.ts'
import { durationText, shapedText, webAddress } from './scalars.ts'

export const maxSilences = 4

const silenceName = shapedText(63, '[a-z0-9]([-a-z0-9]*[a-z0-9])?', 'must be a short name such as by-instance')
const ofEveryNode = 'needs a matcher with {node}: without one the alerts of every node would be silenced'
const namedOnce = 'has a name twice: each has its own'

/** As Alertmanager writes them, in ASCII; no quotation mark or backslash inside. */
export const matcherPattern = '([a-zA-Z_][a-zA-Z0-9_]*)(=|!=|=~|!~)"(([ -!#-Z^-~[]|])*)"'

const matcher = shapedText(
  512,
  matcherPattern,
  'must be a matcher such as node="{node}" or instance=~"{node}(:[0-9]+)?"',
)

const names = (text: string) => /^[a-zA-Z_][a-zA-Z0-9_]*=~?".*[{]node[}].*"$/.test(text)

export const silenceSchema = z.strictObject({
  name: silenceName.optional().describe('for people. Default silence'),
  url: webAddress.describe('of Alertmanager, without /api'),
  bearerToken: keyReference.optional().describe('a key of a Secret in the operator’s namespace'),
  ca: keyReference
    .optional()
    .describe('a key of a ConfigMap in the operator’s namespace: the certificate authority, PEM'),
  matchers: z
    .array(matcher)
    .min(1)
    .max(8)
    .refine((matchers) => matchers.some(names), ofEveryNode)
    .meta(
      celRules({
        rule: `self.exists(m, m.matches('^[a-zA-Z_][a-zA-Z0-9_]*=~?".*[{]node[}].*"$'))`,
        message: ofEveryNode,
      }),
    )
    .describe('all must match; {node} is the name of the node. For other labels add another entry'),
  lapseAfter: durationText
    .optional()
    .describe('how long a silence lasts when nobody prolongs it; less than a minute is taken as one. Default 5m'),
})

export const silencesSchema = z
  .array(silenceSchema)
  .max(maxSilences)
  .refine((all) => new Set(all.map(({ name = 'silence' }) => name)).size === all.length, namedOnce)
  .meta(
    celRules({
      rule: "self.all(a, self.exists_one(b, (has(b.name) ? b.name : 'silence') == (has(a.name) ? a.name : 'silence')))",
      message: namedOnce,
    }),
  )

/** What Alertmanager answers; only what is read of it. */
export const silenceCreatedSchema = z.object({ silenceID: z.string().min(1).max(128) })

export const silenceListSchema = z.array(
  z.object({
    id: z.string().max(128),
    createdBy: z.string(),
    comment: z.string(),
    startsAt: z.string(),
    endsAt: z.string(),
    status: z.object({ state: z.string() }),
  }),
)

export type FoundSilence = z.infer<typeof silenceListSchema>[number]
export type SilenceSpec = z.infer<typeof silenceSchema>
