// The way to a version: the control plane one minor version at a time, each at a version that is there; workers straight to the
// target, or earlier where they would fall too far behind. https://kubernetes.io/releases/version-skew-policy/

import type { Reason } from '../../api/reason.ts'
import { maxSteps } from '../../api/version-path.ts'
import type { KubernetesWish } from '../../api/work.ts'
import { compareVersions, minorsBetween, parseVersion, type Version } from '../version.ts'
import { askedText, type Offers, offeredOf } from './offers.ts'
import { flavourOf, isPreRelease, newestOf } from './wish.ts'

export interface PathView {
  readonly target: Version
  readonly offers: Offers
  /** API servers that go along, oldest first. */
  readonly servers: readonly Version[]
  /** Control-plane nodes that are left out: their API servers would fall behind. */
  readonly leftOut: readonly string[]
  /** Kubelets of the workers that go along, oldest first. */
  readonly kubelets: readonly Version[]
  readonly workers: NonNullable<KubernetesWish['workers']>
  /** Why there can be no step before the target; absent: there can. */
  readonly oneStepBecause?: string | undefined
}

export interface Path {
  readonly steps: readonly string[]
  /** Those of the steps that take the workers, too. */
  readonly workerSteps: readonly number[]
  /** Why it cannot be gone; then the target is its only step. */
  readonly fault?: Fault
}

export type Fault = Reason & {
  /** Only an edit of the update can change it. */
  readonly lasting: boolean
  /** Nobody lists a version that lies on the way: who knows more may. */
  readonly unlisted?: true
}

/** How many minor versions a kubelet may be behind its API server. */
export function lagAllowed(kubeletMinor: number): number {
  return kubeletMinor < 25 ? 2 : 3
}

export function findPath(view: PathView): Path {
  const between = versionsBetween(view)
  if ('fault' in between) return { steps: [view.target.text], workerSteps: [0], fault: between.fault }
  const steps = [...between.versions, view.target.text]
  return { steps, ...whenWorkersGo(view, steps) }
}

type Between = { readonly versions: readonly string[] } | { readonly fault: Fault }

function versionsBetween(view: PathView): Between {
  const { target, servers, leftOut, oneStepBecause } = view
  const [from] = servers
  if (!from || minorsBetween(from, target) <= 1) return { versions: [] }
  const refused = (message: string, why: Pick<Fault, 'lasting' | 'unlisted'>): { readonly fault: Fault } => ({
    fault: { code: 'VersionSkipsMinor', message: `the control plane runs ${from.text}: ${message}`, ...why },
  })
  const lasting = { lasting: true }
  const next = `v${from.major}.${from.minor + 1}`
  if (target.major !== from.major) return refused(`go to ${next} first, then to ${target.text}`, lasting)
  if (oneStepBecause !== undefined)
    return refused(`${oneStepBecause}; go to ${next} first, then to ${target.text}`, { lasting: false })
  if (target.minor - from.minor > maxSteps)
    return refused(`${target.text} is more than ${maxSteps} steps away`, lasting)
  if (leftOut.length > 0) {
    return refused(
      `${target.text} is several minor versions away, and API servers may be one apart: ${leftOut.join(', ')} must go along`,
      lasting,
    )
  }
  const versions: string[] = []
  for (let minor = from.minor + 1; minor < target.minor; minor++) {
    const version = between(view, minor)
    if (version === undefined) {
      const missing = `no version of v${from.major}.${minor} is on offer, which lies on the way to ${target.text}`
      const { fault } = refused(`${missing} (${askedText(view.offers)})`, { lasting: false, unlisted: true })
      // Whoever does not answer just now may know one: nobody has to bring it yet. A person's list is all there is to go to.
      const { lists, failing = [] } = view.offers
      const mayCome = failing.length > 0 && !lists.some(({ source }) => source === 'ConfigMap')
      return { fault: mayCome ? { ...fault, code: 'VersionUnknown' } : fault }
    }
    versions.push(version)
  }
  return { versions }
}

/** Never older than an API server that is at that minor version already. */
function between({ target, servers, offers }: PathView, minor: number): string | undefined {
  const offered = offeredOf(offers, target.major, minor)
  const least = servers.filter((server) => server.minor === minor).at(-1)
  return newestOf(offered?.versions ?? [], (version) => {
    if (isPreRelease(version) || flavourOf(version) !== flavourOf(target.text)) return false
    return !least || compareVersions(version, least.text) >= 0
  })
}

/** As late as the skew allows, or with each step. */
function whenWorkersGo({ kubelets, servers, workers }: PathView, steps: readonly string[]): Omit<Path, 'steps'> {
  const [kubelet] = kubelets
  const [server] = servers
  const [first = ''] = steps
  const minorOf = (step: string | undefined) => parseVersion(step ?? '')?.minor ?? 0
  const isTooOld = (minor: number, step: string) => minorOf(step) - minor > lagAllowed(minor)
  if (kubelet && server && server.minor < minorOf(first) && isTooOld(kubelet.minor, first)) {
    const message = `a worker runs ${kubelet.text}, and a kubelet may be ${lagAllowed(kubelet.minor)} minor versions older than its API server: bring the workers to ${servers.at(-1)?.text} before the control plane goes to ${first}`
    return { workerSteps: [steps.length - 1], fault: { code: 'VersionSkipsMinor', message, lasting: false } }
  }
  if (workers === 'EachStep') return { workerSteps: [...steps.keys()] }
  const workerSteps: number[] = []
  let oldest = kubelet?.minor
  for (const [index, step] of steps.entries()) {
    if (index === 0 || oldest === undefined || !isTooOld(oldest, step)) continue
    workerSteps.push(index - 1)
    oldest = minorOf(steps[index - 1])
  }
  return { workerSteps: [...workerSteps, steps.length - 1] }
}
