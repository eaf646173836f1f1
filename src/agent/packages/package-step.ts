// The step that brings a host's packages to what was staged. What was staged is a note of the order, so that any life of the
// agent does the same.

import { SlipwayError } from '../../api/slipway-error.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import type { JobStep, StepContext } from '../drivers/driver.ts'
import { lockHolder, packageExitReasons, packageJobEnv } from './exit-reasons.ts'
import { packageManagerOf } from './find-package-manager.ts'
import type { PackageManager } from './package-manager.ts'
import { readStaged } from './staged-note.ts'

export interface PackageStepOptions {
  readonly name: string
  /** Where the driver's stage wrote the StagedPackages. */
  readonly note: string
  readonly disruptive: boolean
}

/** Without a note that counts there is nothing to do, and the step holds. */
export function packageStep({ name, note, disruptive }: PackageStepOptions): JobStep {
  const missing = async (context: StepContext, signal: AbortSignal) => {
    const staged = await readStaged(context.notes, note)
    return staged && (await (await managerFor(context, staged, signal)).missing(staged, signal))
  }
  return {
    name,
    disruptive,
    // The first repairs what a power loss left; a further one is for a lock or a mirror of a maintainer script.
    attempts: 3,
    showsEffect: true,
    env: packageJobEnv,
    exitReasons: packageExitReasons,
    waitsFor: (line) => {
      const reason = lockHolder(line)
      return reason && { ...reason, message: `step ${name} waits: ${reason.message}` }
    },
    holds: async (context, signal) => (await missing(context, signal)) === undefined,
    missing,
    argv: async (context, signal) => {
      const staged = await readStaged(context.notes, note)
      return staged ? (await managerFor(context, staged, signal)).jobArgv(staged) : ['true']
    },
  }
}

async function managerFor({ host }: StepContext, staged: StagedPackages, signal: AbortSignal): Promise<PackageManager> {
  const manager = await packageManagerOf(host, signal)
  if (manager?.kind === staged.manager) return manager
  throw new SlipwayError('DriverMissing', `packages were staged for ${staged.manager}, which this host does not have`)
}
