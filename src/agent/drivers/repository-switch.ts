// The host's own repository files follow the minor version that is installed from now on: with the first package of Kubernetes
// that an order installs, whichever that is, and back with the same one.

import { repositorySwitchesSchema } from '../../api/kubernetes-notes.ts'
import type { Order } from '../../api/node-state.ts'
import { packagedComponents } from '../../core/update/drivers-for.ts'
import type { Host } from '../../ports/host.ts'
import type { RepositorySwitch } from '../packages/package-manager.ts'
import type { ActStep, Notes, StepContext } from './driver.ts'
import { asksFor } from './kubernetes-target.ts'

export type PackagedComponent = (typeof packagedComponents)[number]

export const switchesNote = 'kubernetes-repositories'

/** The drivers work in the order of this list. */
export function isInstalledFirst(name: PackagedComponent, order: Order): boolean {
  return packagedComponents.find((one) => asksFor(one, order)) === name
}

export const switchRepository: ActStep = {
  name: 'switch-repository',
  disruptive: false,
  attempts: 3,
  brief: true,
  holds: async ({ host, notes }) => {
    for (const { path, after } of await switchesOf(notes)) if ((await host.files.read(path)) !== after) return false
    return true
  },
  act: async ({ host, notes }) => {
    for (const { path, after } of await switchesOf(notes)) await write(host, path, after)
  },
}

export async function switchesOf(notes: Notes): Promise<readonly RepositorySwitch[]> {
  return (await notes.read(switchesNote, repositorySwitchesSchema))?.switches ?? []
}

export async function isSwitchedBack(context: StepContext): Promise<boolean> {
  return (await stillSwitched(context)).length === 0
}

export async function switchBack(context: StepContext): Promise<void> {
  for (const { path, before } of await stillSwitched(context)) await write(context.host, path, before)
}

/** What somebody else has written since is theirs. */
async function stillSwitched({ host, notes }: StepContext): Promise<readonly RepositorySwitch[]> {
  const found: RepositorySwitch[] = []
  for (const one of await switchesOf(notes)) {
    if (one.before !== one.after && (await host.files.read(one.path)) === one.after) found.push(one)
  }
  return found
}

async function write(host: Host, path: string, content: string): Promise<void> {
  const found = await host.files.look(path)
  const { mode, owner, group } = found.kind === 'file' ? found : { mode: 0o644, owner: 'root', group: 'root' }
  await host.files.write(path, content, { mode, owner, group })
}
