// The single things a NodeProfile asks of a host. Each list is bounded: the API server prices the rules by it.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { absolutePath, objectName, shapedText, unitName, webAddress } from './scalars.ts'

const keyText = z.string().min(1).max(32_768)

const aptSchema = z.strictObject({
  uris: z.array(webAddress).min(1).max(8),
  suites: z.array(z.string().min(1).max(128)).min(1).max(8),
  components: z.array(z.string().min(1).max(128)).max(8).optional(),
  signedBy: keyText.describe('ASCII-armoured public key, or the absolute path of a keyring on the host'),
})

const dnfSchema = z.strictObject({
  baseurl: webAddress,
  gpgkey: keyText.describe('ASCII-armoured public key, or the address or absolute path of one'),
})

const noManager = 'names no repository: set apt, dnf or both'

export const repositoryFields = {
  name: shapedText(64, '[a-z0-9]([a-z0-9-]*[a-z0-9])?', 'must be lower-case letters, digits and -, such as kubernetes'),
  apt: aptSchema.optional(),
  dnf: dnfSchema.optional(),
} as const

export const repositorySchema = z
  .strictObject(repositoryFields)
  .refine(({ apt, dnf }) => apt !== undefined || dnf !== undefined, noManager)
  .meta(celRules({ rule: 'has(self.apt) || has(self.dnf)', message: noManager }))

const absentWithVersion = 'a package that is to be absent has neither version nor hold: remove them, or state Absent'

export const packageFields = {
  name: shapedText(128, '[A-Za-z0-9][A-Za-z0-9+._-]*', 'must be the name of a package, such as chrony'),
  state: z.enum(['Present', 'Absent']).optional().describe('Default Present'),
  version: shapedText(
    128,
    '[0-9A-Za-z][0-9A-Za-z.+~:^_-]*[*]?',
    'must be a version such as 2.1.4, or a pattern such as 2.1.*',
  ).optional(),
  hold: z.boolean().optional().describe('kept back from upgrades by others. Default false'),
} as const

export const packageSchema = z
  .strictObject(packageFields)
  .refine(
    ({ state, version, hold }) => state !== 'Absent' || (version === undefined && hold === undefined),
    absentWithVersion,
  )
  .meta(
    celRules({
      rule: "!has(self.state) || self.state != 'Absent' || (!has(self.version) && !has(self.hold))",
      message: absentWithVersion,
    }),
  )

export const dataKey = z.string().min(1).max(253)
const source = z.strictObject({ name: objectName, key: dataKey })
const oneSource = 'must have exactly one of content, configMap and secret'
const kernelPath = 'must not lie below /proc, /sys or /dev: use sysctls for kernel settings'
const ownPath = 'must not lie below /var/lib/slipway or /run/slipway: Slipway keeps its own files there'
const accountName = shapedText(
  64,
  '([a-z_][a-z0-9_-]*[$]?|[0-9]{1,10})',
  'must be the name or number of a user or group, such as root',
)
export const fileContent = z.string().max(131_072)

export const fileFields = {
  path: absolutePath,
  mode: shapedText(4, '[0-7]{3,4}', 'must be three or four octal digits, such as "0644"')
    .optional()
    .describe('Default "0644", for secrets "0600"'),
  owner: accountName.optional().describe('Default root'),
  group: accountName.optional().describe('Default root'),
  restarts: z.array(unitName).max(8).optional().describe('units that are restarted when the file changes'),
} as const

export const fileSchema = z
  .strictObject({
    ...fileFields,
    content: fileContent.optional(),
    configMap: source.optional().describe('in the operator’s namespace; followed when it changes'),
    secret: source.optional().describe('in the operator’s namespace; travels sealed to each host'),
  })
  .refine(
    ({ content, configMap, secret }) => [content, configMap, secret].filter((one) => one !== undefined).length === 1,
    oneSource,
  )
  .refine(({ path }) => !/^[/](proc|sys|dev)[/]/.test(path), kernelPath)
  .refine(({ path }) => !/^[/](var[/]lib|run)[/]slipway[/]/.test(path), ownPath)
  .meta(
    celRules(
      {
        rule: '[has(self.content), has(self.configMap), has(self.secret)].filter(one, one).size() == 1',
        message: oneSource,
      },
      { rule: "!self.path.matches('^/(proc|sys|dev)/')", message: kernelPath },
      { rule: "!self.path.matches('^/(var/lib|run)/slipway/')", message: ownPath },
    ),
  )

export const unitFields = {
  name: unitName,
  enabled: z.boolean().optional().describe('whether it starts at boot; absent = as it is'),
  state: z.enum(['Running', 'Stopped']).optional().describe('absent = as it is'),
} as const

const dropInTwice = 'names a drop-in twice: merge the two'

export const unitSchema = z.strictObject({
  ...unitFields,
  dropIns: z
    .array(
      z.strictObject({
        name: shapedText(128, '[A-Za-z0-9_@-][A-Za-z0-9_.@-]*[.]conf', 'must be a file name such as limits.conf'),
        content: z.string().max(16_384),
      }),
    )
    .max(8)
    .optional()
    .refine((dropIns = []) => new Set(dropIns.map(({ name }) => name)).size === dropIns.length, dropInTwice)
    .meta(celRules({ rule: 'self.all(one, self.exists_one(other, other.name == one.name))', message: dropInTwice })),
})

export const kernelArgument = shapedText(
  256,
  '[A-Za-z0-9_.,:=/@+%-]+',
  'must be one kernel argument without spaces or quotes, such as mitigations=auto',
)

const sysctlPattern = '[a-z0-9][A-Za-z0-9_./-]*'
const sysctlKeyMessage = 'must be the name of a kernel setting such as vm.max_map_count'
export const sysctlKey = shapedText(128, sysctlPattern, sysctlKeyMessage)
export const sysctlValue = shapedText(
  1024,
  '[!-~]([ -~]*[!-~])?',
  'must be one line of printable characters, such as "262144"',
)

export const sysctlsSchema = z.record(sysctlKey, sysctlValue).meta({
  maxProperties: 128,
  ...celRules({
    rule: `self.all(key, key.matches('^${sysctlPattern}$') && size(key) <= 128)`,
    message: `each key ${sysctlKeyMessage}`,
  }),
})

export type ProfileRepository = z.infer<typeof repositorySchema>
export type ProfilePackage = z.infer<typeof packageSchema>
export type ProfileFile = z.infer<typeof fileSchema>
export type ProfileUnit = z.infer<typeof unitSchema>
