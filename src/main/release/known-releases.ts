// The keys that releases are signed with go into the program when it is built.

import releaseKeys from '../../../deploy/release/keys.json' with { type: 'json' }
import { FileReleases } from '../../adapters/signed-release/file-releases.ts'

export function knownReleases(): FileReleases {
  const { keys }: { readonly keys: readonly string[] } = releaseKeys
  return new FileReleases(keys)
}
