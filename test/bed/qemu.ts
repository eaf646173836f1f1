// Programs of another architecture, run by QEMU's user mode from Debian: no machine is booted, nothing is installed.

import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { type Execution, execute } from './execute.ts'
import { unpackPackages } from './host-packages.ts'

const processors = { amd64: 'x86_64', arm64: 'aarch64' } as const

/** Undefined where it can be run; in continuous integration it must be. */
export async function whyNoQemu(): Promise<string | undefined> {
  return await qemuFolder().then(
    () => undefined,
    (error: unknown) => (process.env.CI ? undefined : `there is no QEMU: ${String(error)}`),
  )
}

/** Runs a program of that root: its loader and libraries are the root's, all else is this machine's. */
export async function runEmulated(
  architecture: keyof typeof processors,
  root: string,
  argv: readonly string[],
): Promise<Execution> {
  const program = join(await qemuFolder(), processors[architecture])
  return await execute([program, '-L', root, ...argv])
}

async function qemuFolder(): Promise<string> {
  return await cachedFolder('qemu-user-static', async (folder) => {
    const scratch = join(folder, 'scratch')
    await mkdir(scratch)
    await unpackPackages(['qemu-user-static'], scratch)
    const bin = join(scratch, 'usr/bin')
    for (const processor of Object.values(processors)) {
      await copyFile(join(bin, `qemu-${processor}-static`), join(folder, processor))
    }
    await rm(scratch, { recursive: true })
  })
}
