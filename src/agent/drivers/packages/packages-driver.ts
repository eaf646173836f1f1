// The packages of the operating system itself, all of them or those with security updates. Kubernetes, its runtime and etcd are
// left alone, held or not: their versions are decided by updates of Kubernetes and by profiles.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { keptFromSystem } from '../../../core/kubernetes/component-packages.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import type { PackageManager } from '../../packages/package-manager.ts'
import { sourcesOf } from '../../packages/package-sources.ts'
import { packageStep } from '../../packages/package-step.ts'
import { reconsiderReturn, returnStep, stageReturn } from '../../packages/return-step.ts'
import { stageOnce } from '../../packages/stage-once.ts'
import type { Driver, Staging, StepContext } from '../driver.ts'

const note = 'packages'

export const packagesDriver: Driver = {
  name: 'packages',
  concerns: ({ work }) => work.os?.packages !== undefined,
  inspect: async (context, signal) => {
    const manager = await managerOf(context, signal)
    const installed = await manager.installed('All', signal)
    return Object.fromEntries(
      [...installed].map(([name, { version, held }]) => [name, held ? `${version} held` : version]),
    )
  },
  stage,
  steps: () => [packageStep({ name: 'upgrade-packages', note, disruptive: true })],
  undo: { possible: true, steps: () => [returnStep({ name: 'return-packages', note, disruptive: true })] },
}

async function stage(staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { order, stagingFolder } = staging
  const upgrade = order.work.os?.packages
  if (upgrade === undefined) return undefined
  const manager = await packageManagerOf(staging.host, signal)
  if (!manager) return noManager
  const sources = sourcesOf(staging, manager)
  const request = { folder: `${stagingFolder}/packages`, sources, upgrade, except: keptFromSystem }
  const wish = {
    note,
    // What is upgraded is decided once; what comes out meanwhile waits for the next time.
    answers: () => true,
    stage: async () => {
      await reconsiderReturn(staging, note)
      return await manager.stageUpgrade(request, signal)
    },
  }
  const result = await stageOnce(staging, manager, wish, signal)
  if (!result.ok) return result.reason
  const { staged, fresh } = result
  if (fresh && staged.keptBack.length > 0) {
    await staging.warn(`kept back by the package manager: ${staged.keptBack.slice(0, 50).join(', ')}`)
  }
  return await stageReturn(staging, manager, note, sources, signal)
}

const noManager: Reason = {
  code: 'DriverMissing',
  message: 'this host has neither apt nor dnf; a host that boots from an image is upgraded with os.image',
}

async function managerOf({ host }: StepContext, signal: AbortSignal): Promise<PackageManager> {
  const manager = await packageManagerOf(host, signal)
  if (!manager) throw new SlipwayError(noManager.code, noManager.message)
  return manager
}
