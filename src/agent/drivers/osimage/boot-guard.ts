// The guard on the host that goes back to the previous deployment unless the new one is confirmed. Its units lie in /etc, which
// every new deployment inherits; what arms it lies in /var, which all deployments share.

import type { ImagePlan } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { StepContext } from '../driver.ts'
import { guardFolder, guardScript } from './guard-script.ts'
import { lastLines } from './image-state.ts'

type GuardContext = Pick<StepContext, 'host' | 'order'>

/** How long after its boot a new image may take to be confirmed. */
export const trialSeconds = 600

const units = '/etc/systemd/system'
const timer = 'slipway-boot-guard.timer'
const service = 'slipway-boot-guard.service'
const paths = {
  timer: `${units}/${timer}`,
  service: `${units}/${service}`,
  script: `${guardFolder}/guard.sh`,
  armed: `${guardFolder}/armed`,
  returning: `${guardFolder}/returning`,
  returned: `${guardFolder}/returned`,
} as const
const attributes = { mode: 0o644, owner: 'root', group: 'root' }

export async function isGuardSet({ host, order }: GuardContext): Promise<boolean> {
  return (await host.files.read(paths.armed))?.trim() === order.id
}

/** It wakes at the next boot, not now. Armed last, so that a guard cut off half-way does nothing. */
export async function setGuard({ host, order }: GuardContext, plan: ImagePlan, signal: AbortSignal): Promise<void> {
  // Of an order before: it would go back at once.
  for (const path of [paths.returning, paths.returned]) await host.files.remove(path)
  await host.files.write(paths.script, guardScript, attributes)
  await host.files.write(paths.service, serviceText(plan), attributes)
  await host.files.write(paths.timer, timerText, attributes)
  await systemctl(host, ['enable', timer], signal)
  await host.files.write(paths.armed, `${order.id}\n`, attributes)
}

/** Whether the guard went back from this order's image, or is about to. In this order: the one becomes the other. */
export async function guardReturned({ host, order }: GuardContext): Promise<boolean> {
  for (const path of [paths.returning, paths.returned]) {
    if ((await host.files.read(path))?.trim() === order.id) return true
  }
  return false
}

export async function hasGuardFiles({ files }: Pick<Host, 'files'>): Promise<boolean> {
  for (const path of Object.values(paths)) if ((await files.look(path)).kind !== 'none') return true
  return false
}

/** Whoever takes the file away has the last word on the image: where this order's guard was first, `guardReturned` says so after it. */
export async function disarm({ files }: Pick<Host, 'files'>): Promise<void> {
  await files.remove(paths.armed)
}

/** Disarmed first: from then on a running guard does nothing. One that tries in vain to go back would go on with it. */
export async function removeGuard(host: Pick<Host, 'files' | 'run'>, signal: AbortSignal): Promise<void> {
  await disarm(host)
  if (!(await hasGuardFiles(host))) return
  if ((await host.files.look(paths.timer)).kind !== 'none') await systemctl(host, ['disable', '--now', timer], signal)
  if ((await host.files.look(paths.service)).kind !== 'none') await systemctl(host, ['stop', service], signal)
  for (const path of [paths.timer, paths.service, paths.script, paths.returning, paths.returned])
    await host.files.remove(path)
  await systemctl(host, ['daemon-reload'], signal)
}

async function systemctl(host: Pick<Host, 'run'>, argv: readonly string[], signal: AbortSignal): Promise<void> {
  const { exitCode, stderr } = await host.run({ argv: ['systemctl', ...argv] }, signal)
  if (exitCode === 0) return
  throw new SlipwayError('StepFailed', `systemctl ${argv.join(' ')} ended with ${exitCode}: ${lastLines(stderr)}`)
}

export function serviceText({ engine, unit, before }: ImagePlan): string {
  const old = `${before.checksum}.${before.serial}`
  return `[Unit]
Description=Slipway: go back to the previous OS image unless the new one is confirmed
ConditionPathExists=|${paths.armed}
ConditionPathExists=|${paths.returning}

[Service]
ExecStart=/bin/sh ${paths.script} watch ${engine} ${old} ${trialSeconds} ${unit ?? ''}
`
}

/** By a timer, so that it starts also where the boot hangs later on. */
const timerText = `[Unit]
Description=Slipway: watch over the first boot of a new OS image

[Timer]
OnBootSec=5s
AccuracySec=1s

[Install]
WantedBy=timers.target
`
