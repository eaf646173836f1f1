// An export of an NFS server, mounted on the machine by the machine's own mount while a backup needs it.

import { mkdir } from 'node:fs/promises'
import type { StorePlace } from '../../api/backup.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandResult, Host } from '../../ports/host.ts'
import { machinePath } from '../host/machine-path.ts'

export interface NfsTools {
  readonly host: Pick<Host, 'run'>
  /** Where the machine's own root is seen; '' outside a container. */
  readonly root: string
  /** Where mounts of ours lie, as the machine sees it. */
  readonly folder: string
}

/** A server that is gone must not hold a process for ever. */
const safeOptions = 'soft,timeo=100,retrans=3'
const ownOptions = 'nosuid,nodev,noexec'
const mountMs = 60_000
/** mount's exit code for what the server or the network did. */
const mountFailure = 32

export interface Mounted {
  /** As the machine sees it. */
  readonly folder: string
  unmount(): Promise<void>
}

export async function mountNfs(
  { name, nfs }: { readonly name: string; readonly nfs: NonNullable<StorePlace['nfs']> },
  { host, root, folder }: NfsTools,
  signal: AbortSignal,
): Promise<Mounted> {
  const at = `${folder}/${name}`
  const source = `${nfs.server}:${nfs.path}`
  await mkdir(await machinePath(root, at, true), { recursive: true, mode: 0o700 })
  // One that a crash left; what it shows may be another server's.
  if ((await run(host, ['mountpoint', '-q', at], signal)).exitCode === 0) await unmount(host, at, signal)
  const options = [nfs.options ?? safeOptions, ownOptions].filter((text) => text !== '').join(',')
  const result = await run(host, ['mount', '-t', 'nfs', '-o', options, source, at], signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new SlipwayError('StoreUnreachable', `mounting ${source}: the server does not answer`, {
      nextStep: 'look at the server, its exports and the network',
      cause: error,
    })
  })
  if (result.exitCode !== 0) throw mountError(source, result)
  return { folder: at, unmount: () => unmount(host, at, new AbortController().signal) }
}

function mountError(source: string, { exitCode, stderr }: CommandResult): SlipwayError {
  const said = `mounting ${source}: ${stderr.trim().slice(0, 300)}`
  if (exitCode === 127 || /helper program|wrong fs type|unknown filesystem type/.test(stderr)) {
    return new SlipwayError('ToolMissing', `${said} (this host cannot mount NFS)`, {
      nextStep: 'install the NFS client on the control-plane hosts: nfs-common or nfs-utils',
    })
  }
  if (exitCode !== mountFailure || /denied|not permitted|No such file/i.test(stderr)) {
    return new SlipwayError('StoreRefused', said, {
      nextStep: 'look at the exports of the server and who may use them',
    })
  }
  return new SlipwayError('StoreUnreachable', said, { nextStep: 'look at the server and the network' })
}

/** Lazily where something still holds it: it goes when that ends. */
async function unmount(host: Pick<Host, 'run'>, at: string, signal: AbortSignal): Promise<void> {
  if ((await run(host, ['umount', at], signal)).exitCode !== 0) await run(host, ['umount', '-l', at], signal)
}

function run(host: Pick<Host, 'run'>, argv: readonly string[], signal: AbortSignal): Promise<CommandResult> {
  return host.run({ argv, timeoutMs: mountMs }, signal)
}
