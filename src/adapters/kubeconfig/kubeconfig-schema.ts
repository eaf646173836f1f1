// What a kubeconfig may say, as far as we act on it. Unknown fields are other tools' business and are left alone.

import { z } from 'zod'

const text = z.string().min(1)

export const clusterSchema = z.looseObject({
  server: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  'certificate-authority': text.optional(),
  'certificate-authority-data': z.base64().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': text.optional(),
  'proxy-url': z
    .union([z.literal(''), z.url({ protocol: /^https?$/, error: 'must be an http or https address' })])
    .optional(),
  extensions: z.array(z.looseObject({ name: z.string(), extension: z.unknown() })).nullish(),
})

const execSchema = z.looseObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
  command: text,
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: text, value: z.string() })).nullish(),
  installHint: z.string().optional(),
  provideClusterInfo: z.boolean().optional(),
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).optional(),
})

export const userSchema = z.looseObject({
  'client-certificate': text.optional(),
  'client-certificate-data': z.base64().optional(),
  'client-key': text.optional(),
  'client-key-data': z.base64().optional(),
  token: text.optional(),
  tokenFile: text.optional(),
  username: text.optional(),
  password: z.string().optional(),
  exec: execSchema.nullish(),
  // Acting as somebody else than the person meant would be worse than not acting.
  as: z.undefined({ error: 'impersonation is not supported' }).optional(),
  'auth-provider': z.undefined({ error: 'was removed from Kubernetes; use exec instead' }).optional(),
})

export const contextSchema = z.looseObject({ cluster: text, user: z.string().optional(), namespace: text.optional() })

const entries = z.array(z.looseObject({ name: text })).nullish()

/** Entries are looked at one by one when they are used, so that a broken one that nobody uses does no harm. */
export const fileSchema = z.looseObject({
  'current-context': z.string().nullish(),
  clusters: entries,
  users: entries,
  contexts: entries,
})

/** What an exec plug-in prints. */
export const execCredentialSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.looseObject({
    token: text.optional(),
    clientCertificateData: text.optional(),
    clientKeyData: text.optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
  }),
})

export type ClusterEntry = z.infer<typeof clusterSchema>
export type UserEntry = z.infer<typeof userSchema>
export type ExecEntry = z.infer<typeof execSchema>
