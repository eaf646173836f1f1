// The small values that many resources share, each with the bound the API server needs to price a CEL rule that reaches it.
// Where a rule says in words what a pattern would only show, the CRD carries the rule instead of the pattern.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'

/** Text of one shape: zod and the API server refuse the same, with the same words. */
export function shapedText(maxLength: number, pattern: string, message: string) {
  return z
    .string()
    .max(maxLength)
    .regex(new RegExp(`^${pattern}$`), message)
    .meta(celRules({ rule: `self.matches('^${pattern}$')`, message }))
}

const durationPattern = '([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?'
const durationMessage = 'must be a duration such as 30m or 1h30m, above zero'

/** `30s`, `30m`, `1h30m`: hours, minutes, seconds in that order, each at most once, more than nothing in all. */
export const durationText = z
  .string()
  .max(16)
  .regex(new RegExp(`^(?=.*[1-9])${durationPattern}$`), durationMessage)
  .meta(celRules({ rule: `self.matches('^${durationPattern}$') && self.matches('[1-9]')`, message: durationMessage }))
  .describe('a duration such as 30s, 30m or 1h30m')

const percentPattern = '([1-9][0-9]?|100)%'
const countOrPercentMessage =
  'must be a number of nodes from 1 up, or a percentage from 1% to 100%; with 0 no node could ever be updated (to stop all work set spec.paused of MaintenancePolicy default)'

/** A count, or a percentage that is rounded down but never below 1. */
export const countOrPercent = z
  .union([
    z.int().min(1, countOrPercentMessage).max(100_000, countOrPercentMessage),
    z.string().regex(new RegExp(`^${percentPattern}$`), countOrPercentMessage),
  ])
  .meta({
    // A union has no structural schema of its own; Kubernetes has this one word for it.
    'x-kubernetes-int-or-string': true,
    maxLength: 16,
    ...celRules({
      rule: `type(self) == int ? self >= 1 && self <= 100000 : self.matches('^${percentPattern}$')`,
      message: countOrPercentMessage,
    }),
  })
  .describe('a number of nodes (at least 1) or a percentage such as 10%')

export const objectName = shapedText(
  253,
  '[a-z0-9]([-a-z0-9.]*[a-z0-9])?',
  'must be the name of an object: lower-case letters, digits, - and ., such as rotate-disks',
)

export const sha256Text = shapedText(
  64,
  '[0-9a-f]{64}',
  'must be a SHA-256: 64 lower-case hexadecimal digits, as sha256sum prints them',
).describe('SHA-256 in lower-case hexadecimal')

/** No `.` or `..` segment, no doubled or trailing slash: what is written is where it lies. */
export const absolutePath = shapedText(
  1024,
  '(/([A-Za-z0-9_+@:~=,%-]|[.][A-Za-z0-9_+@:~=,%-])[A-Za-z0-9._+@:~=,%-]*)+',
  'must be an absolute path without .. segments, such as /etc/chrony/chrony.conf',
)

export const webAddress = shapedText(
  1024,
  'https?://[A-Za-z0-9._~:/?#@!$&()*+,;=%-]+',
  'must be an http or https address without spaces or brackets',
)

export const unitName = shapedText(
  255,
  '[A-Za-z0-9:_.@-]+[.](service|socket|timer|mount|path|target|slice)',
  'must be the name of a systemd unit with its suffix, such as chrony.service',
)

/** RFC 3339, as the API server writes it. */
export const instantText = z.string().max(40).meta({ format: 'date-time' })

const exactVersion = 'v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?([+][0-9A-Za-z.-]+)?'

export const kubernetesVersion = shapedText(64, exactVersion, 'must be a full version such as v1.36.3').describe(
  'a Kubernetes version such as v1.36.3',
)

const newestOf = 'v?[0-9]+[.][0-9]+[.]([*]|[0-9]+-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*[.][*])([+][0-9A-Za-z.-]+)?'

/** What a person asks for: a version, or which of those on offer. */
export const kubernetesWish = shapedText(
  64,
  `(${exactVersion}|${newestOf}|latest-patch|latest)`,
  'must be a full version such as v1.36.3, or 1.36.*, 1.37.0-rc.*, latest-patch or latest',
).describe(
  'a Kubernetes version such as v1.36.3; or 1.36.* (the newest of that minor version), latest-patch (of the minor version the control plane runs), latest: resolved once and recorded in status.path',
)

const labelKeyPattern = '([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?'
const labelKeyMessage = 'must be a label key such as pool or topology.kubernetes.io/zone'
export const labelKey = shapedText(317, labelKeyPattern, labelKeyMessage)

const labelValue = shapedText(
  63,
  '([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?',
  'must be a label value: letters, digits, -, _ and ., such as blue',
)

const valuesMissing = 'operators In and NotIn need values: name at least one'
const valuesTooMany = 'operators Exists and DoesNotExist take no values: remove them'

const requirement = z
  .strictObject({
    key: labelKey,
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
    // More would make the rule on each value too dear for the API server where selectors stand in lists.
    values: z.array(labelValue).max(50).optional(),
  })
  .refine(
    ({ operator, values }) =>
      !(operator === 'In' || operator === 'NotIn') || (values !== undefined && values.length > 0),
    valuesMissing,
  )
  .refine(
    ({ operator, values }) => operator === 'In' || operator === 'NotIn' || values === undefined || values.length === 0,
    valuesTooMany,
  )
  .meta(
    celRules(
      {
        rule: "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
        message: valuesMissing,
      },
      {
        rule: "self.operator in ['In', 'NotIn'] || !has(self.values) || size(self.values) == 0",
        message: valuesTooMany,
      },
    ),
  )

/** A standard label selector; both parts must hold. */
export const labelSelector = z
  .strictObject({
    matchLabels: z
      .record(labelKey, labelValue)
      .optional()
      .meta({
        maxProperties: 50,
        ...celRules({
          rule: `self.all(key, key.matches('^${labelKeyPattern}$'))`,
          message: `each key ${labelKeyMessage}`,
        }),
      }),
    matchExpressions: z.array(requirement).max(20).optional(),
  })
  .describe('a standard label selector; absent = all nodes')
