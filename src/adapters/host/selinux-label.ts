import { existsSync } from 'node:fs'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Command, CommandResult } from '../../ports/host.ts'

/** Puts the SELinux label of a file right: as the one it replaces has it, or as the policy wants it. Paths are the machine's. */
export type Relabel = (temporary: string, path: string, replaces: boolean) => Promise<void>

type Run = (command: Command, signal: AbortSignal) => Promise<CommandResult>

const never = new AbortController().signal

/** Does nothing where SELinux is off. */
export function relabelling(root: string, run: Run): Relabel {
  return async (temporary, path, replaces) => {
    if (!existsSync(`${root}/sys/fs/selinux/enforce`)) return
    const label = replaces ? [`--reference=${path}`] : await wantedLabel(run, path)
    if (label === undefined) return
    const { exitCode, stderr } = await run({ argv: ['chcon', ...label, '--', temporary] }, never)
    // File systems without labels have none to keep.
    if (exitCode === 0 || /not supported/i.test(stderr)) return
    throw new SlipwayError('DiskFailed', `${path} cannot get its SELinux label: ${stderr.trim()}`, {
      nextStep: 'look at the audit log of the host',
      path,
    })
  }
}

/** By the name it will have: the policy goes by paths. A host without the tool gives new files the label of their folder. */
async function wantedLabel(run: Run, path: string): Promise<readonly string[] | undefined> {
  const { exitCode, stdout } = await run({ argv: ['matchpathcon', '-n', path] }, never)
  const label = stdout.trim()
  return exitCode === 0 && label !== '' && label !== '<<none>>' ? [label] : undefined
}
