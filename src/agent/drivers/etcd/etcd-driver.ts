// An etcd that runs as a service of the host: its packages to the newest on offer, one member at a time, and never while another
// member is not healthy: two away at once can be one too many. An etcd in a static pod follows kubeadm; here it is left alone.

import { type EtcdMember, etcdMemberSchema } from '../../../api/etcd-output.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { etcdMinorsBetween } from '../../../core/kubernetes/etcd-settings.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import { sourcesOf } from '../../packages/package-sources.ts'
import { packageStep } from '../../packages/package-step.ts'
import type { ActStep, Driver, JobStep, Staging, StepContext } from '../driver.ts'
import { noPackageManager, packagePicture } from '../kubernetes-packages.ts'
import { asksFor, bringsPrograms } from '../kubernetes-target.ts'
import { lookUntil } from '../look-until.ts'
import { restartArgv } from '../restart-unit.ts'
import { etcdUnit, findMember, isHostService } from './find-member.ts'
import { installedVersion, runningVersion, unhealthy } from './member-health.ts'

const stagedNote = 'etcd-packages'
const memberNote = 'etcd-member'
const packages = ['etcd-server', 'etcd-client', 'etcd']
/** A member that is just being restarted is back in seconds. */
const forOthers = { tries: 10, pauseSeconds: 3 }
const forOwn = { tries: 40, pauseSeconds: 3 }

export const etcdDriver: Driver = {
  name: 'etcd',
  concerns: (order) => asksFor('etcd', order) && !bringsPrograms(order),
  inspect: async ({ host }, signal) => ({
    ...(await packagePicture(host, packages, signal)),
    hostService: await isHostService(host, signal),
    installed: (await installedVersion(host, signal)) ?? null,
  }),
  stage,
  steps: () => [checkMembers, packageStep({ name: 'install-etcd', note: stagedNote, disruptive: true }), restartEtcd],
  undo: {
    possible: false,
    because: 'a member of etcd cannot go back once its data is of the newer version; restore a snapshot',
    endsUndo: 'WhenBegun',
  },
}

async function stage(staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, notes, stagingFolder } = staging
  if (!(await isHostService(host, signal))) return undefined
  const manager = await packageManagerOf(host, signal)
  if (!manager) return noPackageManager('etcd')
  const installed = await manager.installed(packages, signal)
  if (installed.size === 0) {
    const message = `etcd runs as ${etcdUnit} but was not installed as a package; upgrade it by the update’s field binary`
    return { code: 'PackageMissing', message }
  }
  const member = await findMember(host, signal).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    throw new SlipwayError('StagingFailed', error.message, { cause: error })
  })
  if ('code' in member) return member
  const wanted = [...installed.keys()].map((name) => ({ name }))
  const request = { folder: `${stagingFolder}/etcd`, sources: sourcesOf(staging, manager), wanted }
  const result = await manager.stage(request, signal)
  if (!result.ok) return result.reason
  const skips = result.staged.packages.find(
    ({ wanted: asked, previous, version }) =>
      asked && previous !== undefined && (etcdMinorsBetween(previous, version) ?? 2) > 1,
  )
  if (skips) {
    const { name, previous, version } = skips
    const message = `etcd is upgraded one minor version at a time: ${name} ${previous} cannot become ${version} at once`
    return { code: 'VersionSkipsMinor', message }
  }
  await notes.write(stagedNote, result.staged)
  await notes.write(memberNote, member)
  return undefined
}

/** Before the packages: some restart their service by themselves. Our own member may be down already, cut off in the middle. */
const checkMembers: ActStep = {
  name: 'check-etcd-members',
  disruptive: false,
  attempts: 5,
  holds: async (context, signal) => {
    const member = await memberOf(context)
    return member === undefined || (await unhealthy(context.host, member, member.others, signal)) === undefined
  },
  act: (context, signal) => refuseWhileOthersAreDown(context, signal),
}

const restartEtcd: JobStep = {
  name: 'restart-etcd',
  disruptive: true,
  attempts: 3,
  timeoutMs: 10 * 60_000,
  argv: async (context, signal) => {
    await refuseWhileOthersAreDown(context, signal)
    return restartArgv([etcdUnit], 5, 120)
  },
  holds: async (context, signal) => (await missingNow(context, signal)) === undefined,
  missing: (context, signal) => lookUntil(context.host, () => missingNow(context, signal), forOwn, signal),
}

async function memberOf({ notes }: StepContext): Promise<EtcdMember | undefined> {
  return await notes.read(memberNote, etcdMemberSchema)
}

async function refuseWhileOthersAreDown(context: StepContext, signal: AbortSignal): Promise<void> {
  const member = await memberOf(context)
  if (!member) return
  const look = () => unhealthy(context.host, member, member.others, signal)
  const down = await lookUntil(context.host, look, forOthers, signal)
  if (down !== undefined) {
    throw new SlipwayError('EtcdUnhealthy', `${down}; this one is not touched`, { nextStep: 'bring that member back' })
  }
}

/** All members healthy again, this one with what is on the disk. */
async function missingNow(context: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const member = await memberOf(context)
  if (!member) return undefined
  const down = await unhealthy(context.host, member, [member.own, ...member.others], signal)
  if (down !== undefined) return down
  const [running, installed] = [
    await runningVersion(context.host, member, signal),
    await installedVersion(context.host, signal),
  ]
  return running === installed ? undefined : `etcd runs ${running}, installed is ${installed ?? 'none'}`
}
