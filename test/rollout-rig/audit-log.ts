// The API server's own record of who wrote what.

import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { ApiServer } from '../bed/api-server.ts'

const entrySchema = z.object({
  verb: z.string(),
  requestReceivedTimestamp: z.string(),
  // Without a name where nobody could tell who it was.
  user: z.object({
    username: z.string().default(''),
    extra: z.record(z.string(), z.array(z.string())).optional(),
  }),
  objectRef: z
    .object({ resource: z.string(), subresource: z.string().optional(), name: z.string().optional() })
    .optional(),
  responseStatus: z.object({ code: z.int() }).optional(),
})

export interface AuditedWrite {
  readonly atMs: number
  readonly user: string
  readonly credentialId: string
  readonly verb: string
  /** `nodes/w1`, `nodestates/w1/status` */
  readonly target: string
  readonly code: number
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

export async function auditedWrites({ auditLogPath }: ApiServer): Promise<readonly AuditedWrite[]> {
  const lines = (await readFile(auditLogPath, 'utf8')).split('\n')
  return lines.flatMap((line) => {
    // A server that was killed may leave half a line.
    if (!line.endsWith('}')) return []
    const entry = entrySchema.parse(JSON.parse(line))
    if (!writes.has(entry.verb) || entry.objectRef === undefined) return []
    const { resource, name, subresource } = entry.objectRef
    return [
      {
        atMs: Date.parse(entry.requestReceivedTimestamp),
        user: entry.user.username,
        credentialId: entry.user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '',
        verb: entry.verb,
        target: [resource, name, subresource].filter((part) => part !== undefined).join('/'),
        code: entry.responseStatus?.code ?? 0,
      },
    ]
  })
}
