// All tools look at the same deployments; here they say it in the same words.

import type { AgentStatus } from '../../api/node-state.ts'
import { bootcStatusSchema, type ImageTrust, imageDigest, rpmOstreeStatusSchema } from '../../api/os-image.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { jsonOf } from '../json-text.ts'
import { normalImageName } from './reference.ts'
import { trustOf } from './trust.ts'

export type ImageEngine = 'rpm-ostree' | 'bootc' | 'ostree'

export interface Deployment {
  /** Absent where it was not made from a container image. */
  readonly image?: string
  readonly digest?: string
  readonly version?: string
  /** What the tools were told to check of it, and will check of the next. */
  readonly trust?: ImageTrust
  readonly stateroot: string
  readonly checksum: string
  readonly serial: number
}

export interface ImageStatus {
  readonly engine: ImageEngine
  readonly booted: Deployment
  /** Starts at the next orderly reboot; lost with the power. */
  readonly staged?: Deployment
  /** What the next boot starts as things are. */
  readonly next: Deployment
  /** The other deployments, in the order of the boot menu. */
  readonly others: readonly Deployment[]
  /** The layers of the booted image, where the tool tells: they need not be fetched again. */
  readonly bootedManifest?: string
  /** What the tool is busy with. */
  readonly transaction?: string
}

export function rpmOstreeStatus(text: string): ImageStatus {
  const parsed = rpmOstreeStatusSchema.safeParse(jsonOf(text))
  if (!parsed.success) throw unreadable('rpm-ostree status', parsed.error.message)
  const { deployments, transaction } = parsed.data
  const entries = deployments.map((entry) => ({
    entry,
    deployment: deployment({
      image: entry['container-image-reference'],
      digest: entry['container-image-reference-digest'],
      version: entry.version,
      stateroot: entry.osname,
      checksum: entry.checksum,
      serial: entry.serial,
    }),
  }))
  const booted = entries.find(({ entry }) => entry.booted)
  if (!booted) throw notBooted('rpm-ostree')
  const staged = entries.find(({ entry }) => entry.staged)
  const manifest = booted.entry['base-commit-meta']?.['ostree.manifest']
  return {
    engine: 'rpm-ostree',
    booted: booted.deployment,
    ...(staged && { staged: staged.deployment }),
    next: (entries[0] ?? booted).deployment,
    others: entries.filter((one) => one !== booted && one !== staged).map((one) => one.deployment),
    ...(manifest !== undefined && { bootedManifest: manifest }),
    ...(transaction?.[0] && { transaction: transaction[0] }),
  }
}

export function bootcStatus(text: string): ImageStatus {
  const parsed = bootcStatusSchema.safeParse(jsonOf(text))
  if (!parsed.success) throw unreadable('bootc status', parsed.error.message)
  const { status } = parsed.data
  const read = (entry: typeof status.booted): Deployment | undefined =>
    entry?.ostree
      ? deployment({
          image: entry.image?.image.image,
          digest: entry.image?.imageDigest,
          version: entry.image?.version,
          trust: bootcTrust(entry.image?.image.signature),
          stateroot: entry.ostree.stateroot ?? 'default',
          checksum: entry.ostree.checksum,
          serial: entry.ostree.deploySerial,
        })
      : undefined
  const booted = read(status.booted)
  if (!booted) throw notBooted('bootc')
  const staged = read(status.staged)
  const rollback = read(status.rollback)
  return {
    engine: 'bootc',
    booted,
    ...(staged && { staged }),
    next: staged ?? (status.rollbackQueued ? rollback : undefined) ?? booted,
    others: rollback ? [rollback] : [],
  }
}

/** One entry of `ostree admin status`, which knows commits, not images. */
export interface OstreeEntry {
  readonly isBooted: boolean
  readonly isStaged: boolean
  readonly stateroot: string
  readonly checksum: string
  readonly serial: number
}

/** `ostree admin status`: `* os CHECKSUM.SERIAL (staged)`, its details below it further in. */
export function ostreeEntries(text: string): readonly OstreeEntry[] {
  return [...text.matchAll(/^([* ]) (\S+) ([0-9a-f]{64})\.([0-9]+)(.*)$/gm)].map(
    ([, mark, stateroot = '', checksum = '', serial, rest = '']) => ({
      isBooted: mark === '*',
      isStaged: rest.includes('(staged)'),
      stateroot,
      checksum,
      serial: Number(serial),
    }),
  )
}

/** What the commit of a deployment and its origin tell of its image. */
export interface OstreeOrigin {
  /** As `ostree show --print-metadata-key` prints it: in quotes. */
  readonly manifestDigest: string
  /** The text of its origin file. */
  readonly origin: string
}

export function ostreeStatus(entries: readonly OstreeEntry[], origins: ReadonlyMap<string, OstreeOrigin>): ImageStatus {
  const all = entries.map((entry) => {
    const { manifestDigest = '', origin = '' } = origins.get(entry.checksum) ?? {}
    const { stateroot, checksum, serial } = entry
    return {
      entry,
      deployment: deployment({
        image: /^container-image-reference=(.+)$/m.exec(origin)?.[1],
        digest: manifestDigest.trim().replaceAll("'", ''),
        version: undefined,
        stateroot,
        checksum,
        serial,
      }),
    }
  })
  const booted = all.find(({ entry }) => entry.isBooted)
  if (!booted) throw notBooted('ostree')
  const staged = all.find(({ entry }) => entry.isStaged)
  return {
    engine: 'ostree',
    booted: booted.deployment,
    ...(staged && { staged: staged.deployment }),
    next: (all[0] ?? booted).deployment,
    others: all.filter((one) => one !== booted && one !== staged).map((one) => one.deployment),
  }
}

/** What is booted, for the node's facts; undefined where it did not come from an image. */
export function osImageFacts({ booted }: ImageStatus): AgentStatus['facts']['osImage'] {
  const { image, digest, version } = booted
  if (image === undefined || digest === undefined) return undefined
  return { image: image.slice(0, 512), digest, ...(version !== undefined && { version: version.slice(0, 128) }) }
}

type Place = Pick<Deployment, 'stateroot' | 'checksum' | 'serial'>

export function isSameDeployment(one: Place, other: Place): boolean {
  return one.stateroot === other.stateroot && one.checksum === other.checksum && one.serial === other.serial
}

/** Where its tree lies, as the host sees it. */
export function deploymentRoot({ stateroot, checksum, serial }: Place): string {
  return `/ostree/deploy/${stateroot}/deploy/${checksum}.${serial}`
}

function deployment(found: {
  readonly image: string | null | undefined
  readonly digest: string | null | undefined
  readonly version: string | null | undefined
  /** Where it does not stand before the image's name. */
  readonly trust?: ImageTrust | undefined
  readonly stateroot: string
  readonly checksum: string
  readonly serial: number
}): Deployment {
  const { image, digest, version, stateroot, checksum, serial } = found
  const trust = found.trust ?? trustOf(image ?? '')
  const place = { stateroot, checksum, serial }
  return {
    ...(image != null && { image: normalImageName(image) }),
    ...(imageDigest.safeParse(digest).success && digest != null && { digest }),
    ...(version != null && { version }),
    ...(trust && { trust }),
    ...place,
  }
}

/** bootc shows the name without the prefix, and what it says beside it. */
function bootcTrust(signature: string | { readonly ostreeRemote: string } | null | undefined): ImageTrust | undefined {
  if (signature == null) return undefined
  if (typeof signature === 'object') return { by: 'Remote', remote: signature.ostreeRemote }
  return signature === 'containerPolicy' ? { by: 'Policy' } : undefined
}

function unreadable(what: string, why: string): SlipwayError {
  return new SlipwayError('ImageToolFailed', `${what} printed something we do not know: ${why.slice(0, 300)}`)
}

function notBooted(engine: ImageEngine): SlipwayError {
  return new SlipwayError('ImageToolFailed', `${engine} knows no booted deployment: this host is not image-based`)
}
