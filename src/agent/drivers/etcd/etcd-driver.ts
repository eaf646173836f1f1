// An etcd that runs as a service of the host: its packages to the newest on offer, one member at a time, and never while another
// member is not healthy: two away at once can be one too many. An etcd in a static pod follows kubeadm; here it is left alone.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { accessOfService } from '../../../core/control-plane/etcd-access.ts'
import { etcdPackages } from '../../../core/kubernetes/component-packages.ts'
import { etcdLeap } from '../../../core/kubernetes/etcd-leap.ts'
import type { SecureRequests } from '../../../ports/secure-requests.ts'
import { lookAtEtcd } from '../../control-plane/look-at-etcd.ts'
import { notePeers, peerObstacle } from '../../control-plane/peers.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import type { StageResult } from '../../packages/package-manager.ts'
import { sourcesOf } from '../../packages/package-sources.ts'
import { packageStep } from '../../packages/package-step.ts'
import { stageOnce, wishFor } from '../../packages/stage-once.ts'
import type { ActStep, Driver, JobStep, Staging, StepContext } from '../driver.ts'
import { noPackageManager, packagePicture } from '../kubernetes-packages.ts'
import { asksFor, bringsPrograms } from '../kubernetes-target.ts'
import { lookUntil } from '../look-until.ts'
import { restartArgv } from '../restart-unit.ts'
import { etcdUnit, installedVersion, isHostService, readEtcdSettings } from './host-service.ts'

const stagedNote = 'etcd-packages'
/** A member that is just being restarted is back in seconds. */
const forOthers = { tries: 10, pauseSeconds: 3 }
const forOwn = { tries: 40, pauseSeconds: 3 }

export function etcdDriver(requests: SecureRequests): Driver {
  return {
    name: 'etcd',
    concerns: (order) => asksFor('etcd', order) && !bringsPrograms(order),
    inspect: async ({ host }, signal) => ({
      ...(await packagePicture(host, etcdPackages, signal)),
      hostService: await isHostService(host, signal),
      installed: (await installedVersion(host, signal)) ?? null,
    }),
    stage: (staging, signal) => stage(staging, requests, signal),
    steps: () => [
      checkMembers(requests),
      packageStep({ name: 'install-etcd', note: stagedNote, disruptive: true }),
      restartEtcd(requests),
    ],
    undo: {
      possible: false,
      because: 'a member of etcd cannot go back once its data is of the newer version; restore a snapshot',
      endsUndo: 'WhenBegun',
    },
  }
}

async function stage(staging: Staging, requests: SecureRequests, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, stagingFolder } = staging
  const isService = await isHostService(host, signal).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    throw new SlipwayError('StagingFailed', error.message, { cause: error })
  })
  if (!isService) return undefined
  const manager = await packageManagerOf(host, signal)
  if (!manager) return noPackageManager('etcd')
  const installed = await manager.installed(etcdPackages, signal)
  if (installed.size === 0) {
    const message = `etcd runs as ${etcdUnit} but was not installed as a package; upgrade it by the update’s field binary`
    return { code: 'PackageMissing', message }
  }
  if (!accessOfService(await readEtcdSettings(host, signal))) {
    const message = `${etcdUnit} sets no advertise-client-urls, so its members cannot be asked whether they are healthy`
    return { code: 'EtcdUnhealthy', message }
  }
  await notePeers(staging, requests, signal)
  const wanted = [...installed.keys()].map((name) => ({ name }))
  const request = { folder: `${stagingFolder}/etcd`, sources: sourcesOf(staging, manager), wanted }
  const wish = wishFor(stagedNote, manager, request, signal)
  const stage = async () => withoutLeap(await wish.stage())
  const result = await stageOnce(staging, manager, { ...wish, stage }, signal)
  return result.ok ? undefined : result.reason
}

function withoutLeap(result: StageResult): StageResult {
  const reason = result.ok ? etcdLeap(result.staged.packages) : undefined
  return reason ? { ok: false, reason } : result
}

/** Before the packages: some restart their service by themselves. Our own member may be down already, cut off in the middle. */
function checkMembers(requests: SecureRequests): ActStep {
  return {
    name: 'check-etcd-members',
    disruptive: false,
    attempts: 5,
    holds: async (context, signal) =>
      !(await isHostService(context.host, signal)) || (await peerObstacle(context, requests, signal)) === undefined,
    act: (context, signal) => refuseWhileOthersAreDown(context, requests, signal),
  }
}

function restartEtcd(requests: SecureRequests): JobStep {
  return {
    name: 'restart-etcd',
    disruptive: true,
    attempts: 3,
    showsEffect: true,
    timeoutMs: 10 * 60_000,
    argv: async (context, signal) => {
      await refuseWhileOthersAreDown(context, requests, signal)
      return restartArgv([etcdUnit], 5, 120)
    },
    holds: async (context, signal) => (await missingNow(context, requests, signal)) === undefined,
    missing: (context, signal) => lookUntil(context.host, () => missingNow(context, requests, signal), forOwn, signal),
  }
}

async function refuseWhileOthersAreDown(
  context: StepContext,
  requests: SecureRequests,
  signal: AbortSignal,
): Promise<void> {
  const look = async () => (await peerObstacle(context, requests, signal))?.message
  const down = await lookUntil(context.host, look, forOthers, signal)
  if (down !== undefined) {
    throw new SlipwayError('EtcdUnhealthy', `${down}; this one is not touched`, { nextStep: 'bring that member back' })
  }
}

/** All members healthy again, this one with what is on the disk. */
async function missingNow(
  { host }: StepContext,
  requests: SecureRequests,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!(await isHostService(host, signal))) return undefined
  const { member, members, reason } = await lookAtEtcd(host, requests, signal)
  if (reason) return reason.message
  const sick = members.find(({ healthy }) => !healthy)
  if (sick) return `member ${sick.name} of etcd is not healthy: ${sick.problem ?? 'no reason given'}`
  const running = members.find(({ id }) => id === member)?.version
  const installed = await installedVersion(host, signal)
  return running === installed ? undefined : `etcd runs ${running ?? 'nothing'}, installed is ${installed ?? 'none'}`
}
