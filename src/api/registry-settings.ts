// How registries are asked by the operator. Hosts pull with their own settings.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { objectName, shapedText, webAddress } from './scalars.ts'

const namedOnce = 'has a host twice: each registry has one entry'

const registrySettingsSchema = z.strictObject({
  host: shapedText(
    253,
    '[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?',
    'must be the host of a registry as images name it, such as registry.example or registry.example:5000',
  ),
  secret: objectName
    .optional()
    .describe(
      'in the operator’s namespace: of type kubernetes.io/dockerconfigjson, or with keys username and password',
    ),
  ca: z.string().min(1).max(16_384).optional().describe('a certificate authority besides the well-known ones, PEM'),
  mirrors: z
    .array(webAddress)
    .max(8)
    .optional()
    .describe('asked first, in this order. The credentials of a mirror are those of its own entry here, if it has one'),
  plain: z.boolean().optional().describe('http instead of https. Default false'),
})

export const registriesSchema = z
  .array(registrySettingsSchema)
  .max(16)
  .refine((all) => new Set(all.map(({ host }) => host)).size === all.length, namedOnce)
  .meta(celRules({ rule: 'self.all(a, self.exists_one(b, b.host == a.host))', message: namedOnce }))

export type RegistrySettings = z.infer<typeof registrySettingsSchema>

/** What a Secret of type kubernetes.io/dockerconfigjson holds. */
export const dockerConfigSchema = z.object({
  auths: z.record(
    z.string(),
    z.object({
      auth: z.string().optional(),
      username: z.string().optional(),
      password: z.string().optional(),
    }),
  ),
})
