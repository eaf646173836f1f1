// What the binary driver remembers of one order on the host's disk.

import { z } from 'zod'

/** What the new program says its version is, asked while it was staged. */
export const binaryVersionSchema = z.strictObject({ says: z.string() })

/** What stood at the path before: its SHA-256, or nothing. */
export const binaryBeforeSchema = z.strictObject({ sha256: z.string().nullable() })

/** When the file was changed, by a clock that cannot jump: what was started later runs the new one. */
export const binarySwappedSchema = z.strictObject({ bootId: z.string(), uptimeSeconds: z.number() })
