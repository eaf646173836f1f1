// Whether an update would undo what a profile keeps, or a profile what the update does: then neither is begun.

import type { Node } from '../../api/kube.ts'
import type { NodeProfile, NodeProfileSpec } from '../../api/node-profile.ts'
import type { ProfilePackage } from '../../api/profile-items.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { etcdPackages, keptFromSystem } from '../kubernetes/component-packages.ts'
import { packagesAlong } from '../kubernetes/container-runtimes.ts'
import { addressAtMinor, isRepositoryFile, switchedToMinor } from '../kubernetes/kubernetes-repository.ts'
import { selects } from '../label-selector.ts'
import { componentsOf, packagedComponents, repositoryMinor } from '../update/drivers-for.ts'
import type { Version } from '../version.ts'

/** What an update does that a profile may want otherwise. */
type Doing = Pick<Work, 'kubernetes' | 'os' | 'binary' | 'bundle'>

/** `nodes`: those of the update. `profiles`: those that select one of them. */
export function contradiction(
  update: string,
  doing: Doing,
  profiles: readonly NodeProfile[],
  nodes: readonly Node[],
): Reason | undefined {
  for (const profile of profiles) {
    const { nodeSelector } = profile.spec
    const clash = clashOf(
      doing,
      profile,
      nodes.filter(({ metadata }) => selects(nodeSelector, metadata.labels)),
    )
    if (clash === undefined) continue
    const message = `DirectUpdate ${update} ${clash.update}, but NodeProfile ${profile.metadata.name} ${clash.profile}`
    return { code: 'ProfileContradicted', message }
  }
  return undefined
}

interface Clash {
  readonly update: string
  readonly profile: string
}

function clashOf(doing: Doing, { spec: wanted }: NodeProfile, nodes: readonly Node[]): Clash | undefined {
  for (const one of wanted.packages ?? []) {
    const clash = packageClash(doing, one, nodes)
    if (clash) return clash
  }
  const clash = repositoryClash(doing, wanted)
  if (clash) return clash
  const { binary } = doing
  if (binary && wanted.files?.some(({ path }) => path === binary.path)) {
    return { update: `replaces ${binary.path}`, profile: 'keeps that file as it is: take it out of spec.files' }
  }
  return undefined
}

/** Both would write the repository's own file, each its minor version, for ever. */
function repositoryClash(doing: Doing, wanted: NodeProfileSpec): Clash | undefined {
  const version = repositoryMinor(doing)
  if (!version) return undefined
  const kept = keptAddress(version, wanted) ?? keptFile(version, wanted)
  const minor = `v${version.major}.${version.minor}`
  return kept === undefined
    ? undefined
    : {
        update: `switches the repository of Kubernetes packages to ${minor}`,
        profile: `${kept}: write ${minor} there, or leave the repository to the update`,
      }
}

function keptAddress(minor: Version, { repositories = [] }: NodeProfileSpec): string | undefined {
  for (const { name, apt, dnf } of repositories) {
    const addresses = [...(apt?.uris ?? []), ...(dnf ? [dnf.baseurl] : [])]
    const other = addresses.find((address) => (addressAtMinor(address, minor) ?? address) !== address)
    if (other !== undefined) return `names ${other} in repository ${name}`
  }
  return undefined
}

/** The content of ConfigMaps and Secrets is not seen here. */
function keptFile(minor: Version, { files = [] }: NodeProfileSpec): string | undefined {
  const other = files.find(
    ({ path, content = '' }) =>
      isRepositoryFile(path) && (switchedToMinor(path, content, minor) ?? content) !== content,
  )
  return other && `keeps ${other.path} at another minor version`
}

function packageClash({ kubernetes, os }: Doing, wanted: ProfilePackage, nodes: readonly Node[]): Clash | undefined {
  const components = kubernetes ? componentsOf(kubernetes) : []
  const { name } = wanted
  if (kubernetes && packagedComponents.some((component) => component === name && components.includes(component))) {
    const update = `brings ${name} to ${kubernetes.version}`
    if (wanted.state === 'Absent') return { update, profile: `wants package ${name} absent` }
    if (wanted.version !== undefined && !fits(wanted.version, kubernetes.version.replace(/^v/, ''))) {
      return { update, profile: `pins package ${name} to ${wanted.version}` }
    }
  }
  // Only what is installed is brought there, so a package that is to be absent stays that.
  const isNewest =
    (components.includes('containerd') && nodes.some((node) => isOfRuntime(name, node))) ||
    (components.includes('etcd') && etcdPackages.includes(name))
  if (isNewest && wanted.version !== undefined) {
    return { update: `brings ${name} to the newest on offer`, profile: `pins package ${name} to ${wanted.version}` }
  }
  if (os?.packages && wanted.version !== undefined && wanted.hold !== true && !keptFromSystem.includes(name)) {
    const profile = `pins package ${name} to ${wanted.version} without hold: set hold: true to keep it back`
    return { update: `upgrades the packages of the operating system (${os.packages})`, profile }
  }
  return undefined
}

function isOfRuntime(name: string, { status }: Node): boolean {
  return packagesAlong(status?.nodeInfo?.containerRuntimeVersion).has(name)
}

/** `1.36.3` fits `1.36.*`, `1.36.3` and `1.36.3-1.1`. */
export function fits(pin: string, version: string): boolean {
  if (pin.endsWith('*')) return version.startsWith(pin.slice(0, -1))
  return pin === version || pin.startsWith(`${version}-`)
}
