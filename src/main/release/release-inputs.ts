// What a release is made of besides our own sources: Node and a few Debian packages, by version and digest, for both
// architectures. `make release-inputs` writes deploy/release/inputs.json anew.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

export const architectures = ['amd64', 'arm64'] as const
export type Architecture = (typeof architectures)[number]

const nodePackageSchema = z.strictObject({
  name: z.string(),
  integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/),
})
const debianPackageSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  /** Which archive of Debian's it lies in. */
  archive: z.enum(['debian', 'debian-security']),
  path: z.string().startsWith('pool/'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** As SPDX writes it. */
  licence: z.string(),
})

const perArchitecture = <T extends z.ZodType>(schema: T) => z.strictObject({ amd64: schema, arm64: schema })

export const releaseInputsSchema = z.strictObject({
  node: z.strictObject({ version: z.string(), licence: z.string(), packages: perArchitecture(nodePackageSchema) }),
  debian: z.strictObject({
    suite: z.string(),
    release: z.string(),
    packages: perArchitecture(z.array(debianPackageSchema).min(1)),
  }),
})

export type ReleaseInputs = z.infer<typeof releaseInputsSchema>
export type DebianPackage = z.infer<typeof debianPackageSchema>
export type NodePackage = z.infer<typeof nodePackageSchema>

export const inputsPath = 'deploy/release/inputs.json'

export async function readReleaseInputs(repository: string): Promise<ReleaseInputs> {
  return releaseInputsSchema.parse(JSON.parse(await readFile(join(repository, inputsPath), 'utf8')))
}
