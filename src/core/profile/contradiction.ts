// Whether an update would undo what a profile keeps, or a profile what the update does: then neither is begun.

import type { NodeProfile } from '../../api/node-profile.ts'
import type { ProfilePackage } from '../../api/profile-items.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { componentsOf } from '../update/drivers-for.ts'
import { packageLevel } from './disturbance.ts'

/** What an update does that a profile may want otherwise. */
type Doing = Pick<Work, 'kubernetes' | 'os' | 'binary'>

const runtimePackages = new Set(['containerd', 'containerd.io'])

/** `profiles`: those that select a node of the update. */
export function contradiction(update: string, doing: Doing, profiles: readonly NodeProfile[]): Reason | undefined {
  for (const profile of profiles) {
    const clash = clashOf(doing, profile)
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

function clashOf(doing: Doing, { spec: wanted }: NodeProfile): Clash | undefined {
  for (const one of wanted.packages ?? []) {
    const clash = packageClash(doing, one)
    if (clash) return clash
  }
  const { binary } = doing
  if (binary && wanted.files?.some(({ path }) => path === binary.path)) {
    return { update: `replaces ${binary.path}`, profile: 'keeps that file as it is: take it out of spec.files' }
  }
  return undefined
}

function packageClash({ kubernetes, os }: Doing, wanted: ProfilePackage): Clash | undefined {
  const components = kubernetes ? componentsOf(kubernetes) : []
  const { name } = wanted
  if (kubernetes && components.some((component) => component === name && component !== 'containerd')) {
    const update = `brings ${name} to ${kubernetes.version}`
    if (wanted.state === 'Absent') return { update, profile: `wants package ${name} absent` }
    if (wanted.version !== undefined && !fits(wanted.version, kubernetes.version.replace(/^v/, ''))) {
      return { update, profile: `pins package ${name} to ${wanted.version}` }
    }
  }
  if (components.includes('containerd') && runtimePackages.has(name)) {
    const update = `brings containerd to the newest version on offer`
    if (wanted.state === 'Absent') return { update, profile: `wants package ${name} absent` }
    if (wanted.version !== undefined) return { update, profile: `pins package ${name} to ${wanted.version}` }
  }
  if (os?.packages && wanted.version !== undefined && wanted.hold !== true && !leftAlone(name)) {
    const profile = `pins package ${name} to ${wanted.version} without hold: set hold: true to keep it back`
    return { update: `upgrades the packages of the operating system (${os.packages})`, profile }
  }
  return undefined
}

/** An upgrade of the operating system's packages does not touch these. */
function leftAlone(name: string): boolean {
  return name === 'kubectl' || packageLevel({ name }) !== 'None'
}

/** `1.36.3` fits `1.36.*`, `1.36.3` and `1.36.3-1.1`. */
export function fits(pin: string, version: string): boolean {
  if (pin.endsWith('*')) return version.startsWith(pin.slice(0, -1))
  return pin === version || pin.startsWith(`${version}-`)
}
