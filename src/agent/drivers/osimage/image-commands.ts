// How each tool is told to do the same thing. An image is always named by its digest: a tag was resolved once, while staging.

import type { ImagePlan } from '../../../api/os-image.ts'
import type { ImageEngine } from '../../../core/image/status.ts'
import { trustedReference } from '../../../core/image/trust.ts'

type Argv = readonly string[]

export const ostreeRepository = '/ostree/repo'

export const statusCommands: Readonly<Record<ImageEngine, Argv>> = {
  'rpm-ostree': ['rpm-ostree', 'status', '--json'],
  bootc: ['bootc', 'status', '--json'],
  ostree: ['ostree', 'admin', 'status'],
}

/** `commit`: its checksum, or a name for it. */
export function manifestDigestCommand(commit: string): Argv {
  return ['ostree', 'show', '--print-metadata-key=ostree.manifest-digest', commit]
}

/** Ends what the daemon is at; ends well where it is idle. */
export const cancelCommand: Argv = ['rpm-ostree', 'cancel']

/** Names of the commits that images were made into; each tool's engine calls them so. */
export const fetchedImagesCommand: Argv = [
  ...['ostree', 'refs', `--repo=${ostreeRepository}`, '--list', 'ostree/container/image'],
]

/** Makes the folder, with this one file in it. */
export function checkOutCommand(commit: string, path: string, folder: string): Argv {
  return ['ostree', 'checkout', `--repo=${ostreeRepository}`, `--subpath=${path}`, commit, folder]
}

export function pinnedName({ name, digest }: Pick<ImagePlan, 'name' | 'digest'>): string {
  return `${name}@${digest}`
}

function engineReference(plan: ImagePlan): string {
  return trustedReference(plan.trust, pinnedName(plan))
}

/** Fetches the image into the host's repository; what boots next stays as it is. */
export function downloadCommand(plan: ImagePlan): Argv {
  switch (plan.engine) {
    case 'rpm-ostree':
      return ['rpm-ostree', 'rebase', '--bypass-driver', '--download-only', engineReference(plan)]
    case 'bootc':
    case 'ostree':
      // `bootc switch` cannot fetch alone; its engine can, where its command is linked in.
      return ['ostree', 'container', 'image', 'pull', ostreeRepository, engineReference(plan)]
  }
}

/** Ends well where `ostree container` is linked in. */
export const containerProbe: Argv = ['ostree', 'container', 'image', 'pull', '--help']

/** What the daemon of rpm-ostree calls the work of `stageCommand`, as a method of its D-Bus interface. */
export const stagingTransaction = /^rebase$/i

/** Makes it the staged deployment: what the next orderly reboot starts. */
export function stageCommand(plan: ImagePlan): Argv {
  switch (plan.engine) {
    case 'rpm-ostree':
      return ['rpm-ostree', 'rebase', '--bypass-driver', engineReference(plan)]
    case 'bootc': {
      const trust = plan.trust?.by === 'Policy' ? ['--enforce-container-sigpolicy'] : []
      return ['bootc', 'switch', '--quiet', ...trust, '--transport', 'registry', pinnedName(plan)]
    }
    case 'ostree': {
      const where = ['--stateroot', plan.before.stateroot]
      return ['ostree', 'container', 'image', 'deploy', ...where, '--imgref', engineReference(plan)]
    }
  }
}

/**
 * Drops what the next boot would start in place of what is booted: the staged deployment, else the first of the boot menu. `bootc
 * rollback` would also turn the boot order around.
 */
export const unstageCommands: Readonly<Record<ImageEngine, Argv>> = {
  'rpm-ostree': ['rpm-ostree', 'cleanup', '--pending'],
  bootc: ['ostree', 'admin', 'undeploy', '0'],
  ostree: ['ostree', 'admin', 'undeploy', '0'],
}
