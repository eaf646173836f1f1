// Boots the machine anew. The boot id is the proof, and the fence: never twice for one order.

import { SlipwayError } from '../../../api/slipway-error.ts'
import type { ActStep, Driver, StepContext } from '../driver.ts'
import { decideReboot, type RebootDecision, type RebootView } from './decide-reboot.ts'
import { noteSentinels, whatSentinelsAsk } from './order-sentinels.ts'

export const rebootDriver: Driver = {
  name: 'reboot',
  concerns: ({ work }) => work.reboot !== undefined && work.reboot !== 'Never',
  inspect: async ({ host }) => ({ bootId: await host.bootId() }),
  stage: async (staging, signal) => {
    await noteSentinels(staging, signal)
    return undefined
  },
  steps: () => [rebootStep],
  undo: { possible: false, because: 'a boot cannot be taken back', endsUndo: 'Never' },
}

const rebootStep: ActStep = {
  name: 'reboot',
  disruptive: true,
  attempts: 1,
  restartsKubelet: true,
  boots: true,
  holds: async (context, signal) => {
    const asked = await askedFor(context, signal)
    const decision = await decide(context, asked)
    if (!decision.reboot && decision.because === 'Unknown') {
      await context.warn(`whether a reboot is needed cannot be told here: ${asked.rebootUnknown}; there was none`)
    }
    if (!decision.reboot && decision.because === 'BootedSince') {
      await context.warn('the machine was booted since the order was decided, so it was not rebooted again')
    }
    return !decision.reboot
  },
  act: async ({ host, begunInBoot }, signal) => {
    await host.reboot(signal)
    if ((await host.bootId()) === begunInBoot) throw rebootMissing()
  },
  missing: async ({ host, begunInBoot }) =>
    (await host.bootId()) === begunInBoot ? 'the machine has not been booted since' : undefined,
}

type Asked = Pick<RebootView, 'rebootRequired' | 'rebootUnknown'>

async function askedFor(context: StepContext, signal: AbortSignal): Promise<Asked> {
  if (context.order.work.reboot !== 'IfRequired') return { rebootRequired: undefined, rebootUnknown: undefined }
  const { rebootRequired, rebootUnknown } = await context.host.facts(signal)
  if (rebootRequired !== undefined) return { rebootRequired, rebootUnknown }
  const bySentinels = await whatSentinelsAsk(context, signal)
  return {
    rebootRequired: bySentinels === 'Reboot' ? 'the sentinels of the policy ask for it' : undefined,
    rebootUnknown: bySentinels === 'Unknown' ? 'the reboot command could not be run' : rebootUnknown,
  }
}

async function decide({ host, order, begunInBoot }: StepContext, asked: Asked): Promise<RebootDecision> {
  return decideReboot({
    choice: order.work.reboot ?? 'Never',
    bootId: await host.bootId(),
    decidedInBoot: order.bootID,
    begunInBoot,
    ...asked,
  })
}

function rebootMissing(): SlipwayError {
  return new SlipwayError('RebootMissing', 'the machine was told to reboot and has the boot id it had before', {
    nextStep: 'look on the host what holds the shutdown up: systemctl list-jobs',
  })
}
