export interface ReleaseLook {
  /** The key its signature is of: the beginning of the SHA-256 of its public half. */
  readonly keyId: string
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[]
  /** Where the whole of it was looked at. */
  readonly whole?:
    | {
        readonly version: string
        /** The commit it was made from. */
        readonly revision: string
        readonly image: { readonly reference: string; readonly digest: string }
        readonly components: number
      }
    | undefined
}

/** Releases as `make release` writes them, looked at without a network. */
export interface SignedReleases {
  /**
   * A whole release where the path is a folder, else one file of the release it lies in. `keys` are public keys as PEM; without any
   * those that this program was built with. NotFound; ReleaseUntrusted where no such key has signed it; ReleaseBroken, naming
   * everything, where a file is not what was signed.
   */
  verify(path: string, keys: readonly string[], signal: AbortSignal): Promise<ReleaseLook>
}
