// The packages of one Kubernetes component: staged from the target minor's own repository while the host's still names the
// old one, so that nothing of the host is touched before the node is drained.

import type { Order } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { StagedPackage } from '../../api/staged-packages.ts'
import type { Host } from '../../ports/host.ts'
import { packageManagerOf } from '../packages/find-package-manager.ts'
import { sourcesOf } from '../packages/package-sources.ts'
import { packageStep } from '../packages/package-step.ts'
import { stageOnce, wishFor } from '../packages/stage-once.ts'
import { readStaged } from '../packages/staged-note.ts'
import type { Notes, Picture, Staging, Step } from './driver.ts'
import { targetVersion } from './kubernetes-target.ts'
import { isInstalledFirst, type PackagedComponent, switchesNote, switchRepository } from './repository-switch.ts'
import { undoPackageSteps } from './undo-packages.ts'

export const stagedNote = (name: string) => `${name}-packages`

export async function stageComponent(
  name: PackagedComponent,
  staging: Staging,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { host, order, stagingFolder, notes } = staging
  const manager = await packageManagerOf(host, signal)
  if (!manager) return noPackageManager(name)
  // A kubelet beside the one that runs would be worse than none.
  if (name === 'kubelet' && !(await manager.installed([name], signal)).has(name)) {
    return { code: 'PackageMissing', message: 'the kubelet of this host was not installed as a package' }
  }
  const version = targetVersion(order)
  const switches = order.work.bundle ? [] : await manager.kubernetesRepositories(version, signal)
  // As the files are now: somebody may have changed them since they were looked at first.
  await notes.write(switchesNote, { switches })
  const files = switches.map(({ path, after }) => ({ path, content: after }))
  const sources = sourcesOf(staging, manager, files)
  const wanted = [{ name, version: version.text.slice(1) }]
  const request = { folder: `${stagingFolder}/${name}`, sources, wanted }
  const result = await stageOnce(staging, manager, wishFor(stagedNote(name), manager, request, signal), signal)
  return result.ok ? undefined : result.reason
}

export function noPackageManager(name: string): Reason {
  return {
    code: 'PackageManagerMissing',
    message: `${name} cannot be installed: this host has neither apt nor dnf; image-based hosts name os.image`,
  }
}

export function installSteps(name: PackagedComponent, order: Order): readonly Step[] {
  const install = packageStep({ name: `install-${name}`, note: stagedNote(name), disruptive: false })
  return isInstalledFirst(name, order) ? [switchRepository, install] : [install]
}

/** What brought the repositories along takes them back. */
export function undoInstallSteps(name: PackagedComponent, order: Order): readonly Step[] {
  return undoPackageSteps(name, stagedNote(name), isInstalledFirst(name, order) ? 'SwitchBack' : 'Keep')
}

/** The component's own package as it was staged; undefined before. */
export async function stagedComponent(name: PackagedComponent, notes: Notes): Promise<StagedPackage | undefined> {
  const staged = await readStaged(notes, stagedNote(name))
  return staged?.packages.find((one) => one.name === name)
}

export async function isInstalled(host: Host, name: string, signal: AbortSignal): Promise<boolean> {
  return (await (await packageManagerOf(host, signal))?.installed([name], signal))?.has(name) ?? false
}

/** Versions and holds, for a driver's picture of the host. */
export async function packagePicture(host: Host, names: readonly string[], signal: AbortSignal): Promise<Picture> {
  const manager = await packageManagerOf(host, signal)
  const installed = manager ? [...(await manager.installed(names, signal)).values()] : []
  return { packages: installed.map(({ name, version, held, whole }) => ({ name, version, held, whole })) }
}
