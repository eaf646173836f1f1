// What a change disturbs was judged from the change alone. On a node that was not drained for it, what else has drifted must
// not be put right along with it where that takes the kubelet or the container runtime away.

import type { DesiredState } from '../../../api/desired-state.ts'
import type { Order } from '../../../api/node-state.ts'
import type { Reason } from '../../../api/reason.ts'
import { packageLevel, unitsLevel } from '../../../core/profile/disturbance.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import { inWords, settingDifferences } from './differences.ts'
import { type Installed, packageDifferences } from './package-request.ts'
import type { Site } from './site.ts'

/** Why the order must wait for a drain; undefined where it may go on, or the node is drained. */
export async function whyDrain(
  site: Site,
  { work }: Order,
  target: DesiredState,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { undrained } = work.profile ?? {}
  if (!undrained) return undefined
  const left = disturbing(target, new Set(undrained.mayDisturb))
  const found = [
    ...(await settingDifferences(site, left, signal)),
    ...packageDifferences(left, await installed(site, left, signal)),
  ]
  const words = inWords(found)
  return words === undefined ? undefined : reason(words)
}

/** The same before the order begins, of what an earlier one left to be restarted. */
export async function whyDrainFirst(
  { record }: Site,
  { work }: Order,
  target: DesiredState,
): Promise<Reason | undefined> {
  const { undrained } = work.profile ?? {}
  if (!undrained) return undefined
  const allowed = target.files.filter(({ profile }) => undrained.mayDisturb.includes(profile))
  const mayRestart = new Set(allowed.flatMap(({ restarts }) => restarts))
  const { pending } = await record.load()
  const owed = pending.restarts.filter((unit) => unitsLevel([unit]) !== 'None' && !mayRestart.has(unit))
  return owed.length === 0 ? undefined : reason(`an earlier change has still to restart ${owed.join(', ')}`)
}

/** The part that only a drained node may have put right. Kernel arguments are not: they wait for the next boot. */
function disturbing(target: DesiredState, mayDisturb: ReadonlySet<string>): DesiredState {
  const isGuarded = ({ profile }: { readonly profile: string }) => !mayDisturb.has(profile)
  return {
    ...target,
    packages: target.packages.filter((one) => isGuarded(one) && packageLevel(one) !== 'None'),
    files: target.files.filter((one) => isGuarded(one) && unitsLevel(one.restarts) !== 'None'),
    units: target.units.filter((one) => isGuarded(one) && unitsLevel([one.name]) !== 'None'),
    sysctls: [],
  }
}

async function installed({ host }: Site, { packages }: DesiredState, signal: AbortSignal): Promise<Installed> {
  const manager = packages.length > 0 ? await packageManagerOf(host, signal) : undefined
  return manager
    ? await manager.installed(
        packages.map(({ name }) => name),
        signal,
      )
    : new Map()
}

function reason(found: string): Reason {
  return { code: 'DrainNeeded', message: `${found}: that is put right when the node is drained`.slice(0, 4000) }
}
