// Kernel arguments of the next boot, by whatever the host sets them with: rpm-ostree, grubby, or Debian's grub settings. A bootc
// host without rpm-ostree takes them from its image (/usr/lib/bootc/kargs.d), so there they cannot be set from outside.

import { SlipwayError } from '../../../api/slipway-error.ts'
import {
  changedGrubDefaults,
  grubbyArguments,
  grubEntryArguments,
  isPlainArgument,
  type KernelArgumentChange,
  missingKernelArguments,
  splitKernelArguments,
} from '../../../core/kernel/kernel-arguments.ts'
import type { CommandResult, Host } from '../../../ports/host.ts'

type Tool = 'rpm-ostree' | 'grubby' | 'update-grub'

interface Found {
  readonly tool: Tool
  readonly current: readonly string[]
}

const grubDefaults = '/etc/default/grub'
const grubConfig = '/boot/grub/grub.cfg'
const configBytes = 4 * 1024 * 1024
const changeTimeoutMs = 10 * 60_000
/** As a shell says it. */
const noSuchProgram = 127

/** What the next boot gets; undefined where the host has no tool we know. */
export async function readKernelArguments(host: Host, signal: AbortSignal): Promise<readonly string[] | undefined> {
  return (await find(host, signal))?.current
}

/** Does what is missing; felt after the next boot. Safe to do again, and after being cut off. */
export async function changeKernelArguments(
  host: Host,
  change: KernelArgumentChange,
  signal: AbortSignal,
): Promise<void> {
  const odd = [...change.add, ...change.remove].find((word) => !isPlainArgument(word))
  if (odd !== undefined) throw unsupported(`the kernel argument ${JSON.stringify(odd)} has blanks or quotes`)
  const found = await find(host, signal)
  if (!found) throw unsupported('this host has neither rpm-ostree nor grubby nor update-grub')
  const missing = missingKernelArguments(found.current, change)
  if (missing.add.length + missing.remove.length === 0) return
  await apply(host, found.tool, missing, signal)
  const after = missingKernelArguments((await find(host, signal))?.current ?? [], change)
  const left = [...after.add, ...after.remove]
  if (left.length > 0)
    throw new SlipwayError('StepFailed', `${found.tool} ended well, but left ${left.join(' ')} undone`)
}

async function find(host: Host, signal: AbortSignal): Promise<Found | undefined> {
  const rpmOstree = await host.run({ argv: ['rpm-ostree', 'kargs'], timeoutMs: changeTimeoutMs }, signal)
  if (rpmOstree.exitCode === 0) return { tool: 'rpm-ostree', current: splitKernelArguments(rpmOstree.stdout) }
  if ((await host.files.look('/run/ostree-booted')).kind !== 'none') {
    if (rpmOstree.exitCode === noSuchProgram) return undefined
    const said = rpmOstree.stderr.trim().slice(-400)
    throw new SlipwayError('StagingFailed', `rpm-ostree kargs ended with ${rpmOstree.exitCode}: ${said}`)
  }
  const grubby = await host.run({ argv: ['grubby', '--info=DEFAULT'] }, signal)
  const byGrubby = grubby.exitCode === 0 ? grubbyArguments(grubby.stdout) : undefined
  if (byGrubby) return { tool: 'grubby', current: byGrubby }
  if ((await host.files.look(grubDefaults)).kind === 'none') return undefined
  const current = grubEntryArguments((await host.files.read(grubConfig, configBytes)) ?? '')
  return current && { tool: 'update-grub', current }
}

async function apply(
  host: Host,
  tool: Tool,
  { add, remove }: KernelArgumentChange,
  signal: AbortSignal,
): Promise<void> {
  switch (tool) {
    case 'rpm-ostree': {
      const changes = [
        ...remove.map((word) => `--delete-if-present=${word}`),
        ...add.map((word) => `--append-if-missing=${word}`),
      ]
      return await run(host, ['rpm-ostree', 'kargs', ...changes], signal)
    }
    case 'grubby': {
      // One at a time: grubby itself would split a list at its blanks.
      for (const word of remove) await run(host, ['grubby', '--update-kernel=ALL', `--remove-args=${word}`], signal)
      for (const word of add) await run(host, ['grubby', '--update-kernel=ALL', `--args=${word}`], signal)
      return
    }
    case 'update-grub': {
      const found = await host.files.look(grubDefaults)
      const attributes = found.kind === 'file' ? found : { mode: 0o644, owner: 'root', group: 'root' }
      const text = (await host.files.read(grubDefaults)) ?? ''
      const changed = changedGrubDefaults(text, { add, remove })
      if (changed !== text) await host.files.write(grubDefaults, changed, attributes)
      return await run(host, ['update-grub'], signal)
    }
  }
}

async function run(host: Host, argv: readonly string[], signal: AbortSignal): Promise<void> {
  const result: CommandResult = await host.run({ argv, timeoutMs: changeTimeoutMs }, signal)
  if (result.exitCode === 0) return
  const said = result.stderr.trim().slice(-500)
  throw new SlipwayError('StepFailed', `${argv.slice(0, 2).join(' ')} ended with ${result.exitCode}: ${said}`)
}

function unsupported(message: string): SlipwayError {
  return new SlipwayError('KernelArgumentsUnsupported', message, { nextStep: 'set them in the host’s image' })
}
