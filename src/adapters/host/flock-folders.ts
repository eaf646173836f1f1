// The kernel keeps a lock for as long as somebody has the locked file open, and all containers of a machine have one kernel: nothing is
// left behind by a process that is killed, or by a boot. Node has no call for it; the host's `flock` sets it on the folder it is handed,
// and it stays with us, who opened it.

import { closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { FolderLocks } from '../../ports/folder-locks.ts'
import { namingPath } from '../disk/disk-error.ts'
import { cleanEnvironment } from './job-keeper.ts'
import { firstHanded, runCommand } from './run-command.ts'

const timeoutMs = 30_000

export class FlockFolders implements FolderLocks {
  readonly #enter: readonly string[]

  /** `enter`: put before the program, to run the machine's own. */
  constructor(enter: readonly string[] = []) {
    this.#enter = enter
  }

  async take(folder: string, signal: AbortSignal): Promise<boolean> {
    const opened = await namingPath(folder, () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      // What is on a full or read-only disk can be locked, too.
      return openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    })
    let isOurs = false
    try {
      isOurs = await this.#locks(folder, opened, signal)
      return isOurs
    } finally {
      // Left open otherwise: closed only with this process.
      if (!isOurs) closeSync(opened)
    }
  }

  async #locks(folder: string, opened: number, signal: AbortSignal): Promise<boolean> {
    const argv = ['flock', '-x', '-n', String(firstHanded)]
    const options = { enter: this.#enter, env: cleanEnvironment, handed: [opened] }
    const { exitCode, stderr } = await runCommand({ argv, timeoutMs }, options, signal)
    if (exitCode === 0) return true
    // It says nothing of a lock that is another's; what could not be run at all says why.
    if (exitCode === 1 && stderr.trim() === '') return false
    throw new SlipwayError(
      'DiskFailed',
      `${folder} cannot be locked: ${stderr.trim() || `flock ended with ${exitCode}`}`,
      {
        path: folder,
        nextStep:
          'look whether the host has flock (of util-linux), and whether the agent shares its processes (hostPID)',
      },
    )
  }
}
