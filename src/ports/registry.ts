import type { Referrer } from '../api/image-signature.ts'

/** A password, and the certificates to be trusted besides the well-known ones (PEM). */
export interface RegistryCredentials {
  readonly username?: string
  readonly password?: string
  readonly ca?: string
}

/** Another registry that holds the same repositories. What it is asked with is its own: credentials never go along to it. */
export interface RegistryMirror extends RegistryCredentials {
  /** https://mirror.example, or with a folder that comes before the repository: https://mirror.example/quay */
  readonly url: string
}

/** How a registry is asked; found by the host name of the reference. */
export interface RegistryAccess extends RegistryCredentials {
  /** Asked first, in this order. */
  readonly mirrors?: readonly RegistryMirror[]
  /** http instead of https. */
  readonly plain?: boolean
}

export interface Platform {
  readonly os: string
  readonly architecture: string
  /** sha256:… of the image for it: that of the whole, where there is one image only. */
  readonly digest: string
}

export interface FoundImage {
  /** sha256:… of what the reference names: a list of platforms, or one image. Computed from what came. */
  readonly digest: string
  /** Those it was made for. */
  readonly platforms: readonly Platform[]
}

/**
 * An OCI registry. References are written as people do: `registry.example/team/os:1.2`, `…@sha256:…`. Errors are SlipwayError:
 * CannotReach for what may pass (nobody answers, 429 and 5xx, an answer that cannot be used), with `retryAfterMs` where the server
 * said when to ask again; RegistryRefused for what will not (401, 403, no such name). Only what all who were asked refuse is refused.
 */
export interface Registry {
  /** All tags of the repository, in no order. */
  tags(repository: string, access: RegistryAccess, signal: AbortSignal): Promise<readonly string[]>
  look(reference: string, access: RegistryAccess, signal: AbortSignal): Promise<FoundImage>
  /**
   * What refers to any of these digests in the repository. None where the registry keeps no such list, whatever it answers then;
   * a tag made from the digest may list them instead.
   */
  referrers(
    repository: string,
    digests: readonly string[],
    access: RegistryAccess,
    signal: AbortSignal,
  ): Promise<readonly Referrer[]>
}
