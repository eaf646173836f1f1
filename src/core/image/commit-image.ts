// An image may be one ostree commit, cut into layers; ostree's GPG signature is of that commit. Any layer above it the signature says
// nothing of.

import { commitConfigSchema } from '../../api/os-image.ts'
import { jsonOf } from '../json-text.ts'

export type CommitImage =
  | { readonly kind: 'commit'; readonly commit: string }
  | { readonly kind: 'other'; readonly why: string }

const noCommit = 'it is no ostree commit: its labels name none'

/** By its configuration, as ostree's engine labels what it makes of a commit. That is where to look, and is not believed. */
export function readCommitImage(text: string): CommitImage {
  const read = commitConfigSchema.safeParse(jsonOf(text))
  if (!read.success) return { kind: 'other', why: 'its configuration cannot be read' }
  const { config, rootfs } = read.data
  const { 'ostree.commit': commit, 'ostree.final-diffid': final } = config?.Labels ?? {}
  const last = final === undefined ? -1 : rootfs.diff_ids.indexOf(final)
  if (commit === undefined || !/^[0-9a-f]{64}$/.test(commit) || last < 0) return { kind: 'other', why: noCommit }
  const above = rootfs.diff_ids.length - 1 - last
  if (above > 0)
    return { kind: 'other', why: `it has ${above} ${above === 1 ? 'layer' : 'layers'} above its ostree commit` }
  return { kind: 'commit', commit }
}
