// What is known of where the work comes from. Whether a repository answers, and an image can be pulled, is proved by each host when
// it stages, before it is drained; what an image names was looked up before, nothing is fetched from here.

import type { ReasonCode } from '../../api/reason.ts'
import { instanceFor } from '../image/resolved-image.ts'
import { nameList } from '../name-list.ts'
import { type Check, type CheckView, type Finding, factsOf, failed, passed, warned } from './check.ts'
import { lastAttempts } from './last-attempt.ts'

const sourceCodes: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'RepositoryMissing',
  'RepositoryUntrusted',
  'DownloadRefused',
  'ImageMissing',
  'ImageUnknown',
  'ImageUntrusted',
])

export const sources: Check = {
  name: 'Sources',
  judge: (view) => {
    const { kubernetes, os, binary, airGapped } = view.spec
    if (!kubernetes && !os && !binary) return undefined
    return (
      wrongHosts(view) ??
      wrongPlatforms(view) ??
      (airGapped ? undefined : refusals(view)) ??
      passed('no host says that a source is missing')
    )
  },
}

function wrongHosts(view: CheckView): Finding | undefined {
  const { os } = view.spec
  const without = (has: 'packageManager' | 'imageManager', lacks: 'packageManager' | 'imageManager') =>
    view.selected.flatMap((node) => {
      const facts = factsOf(view, node)
      return facts?.[has] !== undefined && facts[lacks] === undefined ? [node.metadata.name] : []
    })
  const packaged = os?.image === undefined ? [] : without('packageManager', 'imageManager')
  if (packaged.length > 0) return failed(`os.image is for image-based hosts; ${nameList(packaged)} has packages`)
  const imaged = os?.packages === undefined ? [] : without('imageManager', 'packageManager')
  if (imaged.length > 0)
    return failed(`os.packages is for package-based hosts; ${nameList(imaged)} is booted from an image`)
  return undefined
}

/** Each host proves it again when it stages; here it is known before any of them is taken. */
function wrongPlatforms(view: CheckView): Finding | undefined {
  const { osImage } = view
  if (!osImage) return undefined
  const without = view.selected.flatMap((node) => {
    const architecture = factsOf(view, node)?.architecture
    const isMissing = architecture !== undefined && instanceFor(osImage, architecture) === undefined
    return isMissing ? [{ name: node.metadata.name, architecture }] : []
  })
  const [first] = without
  if (!first) return undefined
  const made = osImage.instances.map(({ architecture }) => architecture)
  const has = made.length === 0 ? 'is for no Linux machine' : `is for ${nameList(made)}`
  const needs = nameList([...new Set(without.map(({ architecture }) => architecture))])
  const message = `${osImage.reference} ${has}; ${nameList(without.map(({ name }) => name))} needs ${needs}`
  return { result: 'Failed', code: 'ImagePlatformMissing', lasting: true, message }
}

function refusals(view: CheckView): Finding | undefined {
  const tried = lastAttempts(view, sourceCodes)
  const [first] = tried
  if (first) {
    const nodes = nameList(tried.map(({ node }) => node))
    return warned(`when last tried, sources failed on ${nodes}: ${first.reason.message}`)
  }
  const bare = view.selected.flatMap((node) => {
    const facts = factsOf(view, node)
    const asks = view.spec.kubernetes !== undefined && facts?.packageManager !== undefined
    return asks && facts.versionsOnOffer.length === 0 ? [node.metadata.name] : []
  })
  if (bare.length === 0) return undefined
  return warned(`no repository on ${nameList(bare)} offers Kubernetes; it is tried when they stage`)
}
