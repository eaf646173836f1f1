// An export of an NFS server, mounted on the machine by the machine's own mount while a backup needs it: each time at a place of its own,
// for the agent and somebody at the command line may need it at the same time.

import { rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorePlace } from '../../api/backup.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandResult, Host } from '../../ports/host.ts'
import { leftFolders, makeOwnFolder } from '../disk/own-folder.ts'
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
  /** By which what is mounted is known from the bare folder below it. */
  readonly device: number
  /** Never throws: the work is done by then. What stays is cleared when this process has ended. */
  unmount(): Promise<void>
}

interface MountPoint {
  /** As the machine sees it. */
  readonly folder: string
  /** As this process sees it. */
  readonly here: string
}

export async function mountNfs(
  nfs: NonNullable<StorePlace['nfs']>,
  { host, root, folder }: NfsTools,
  signal: AbortSignal,
): Promise<Mounted> {
  const mounts = await machinePath(root, folder, true)
  const pointOf = (name: string): MountPoint => ({ folder: `${folder}/${name}`, here: join(mounts, name) })
  for (const name of await leftFolders(mounts)) await takeAway(host, pointOf(name), signal)
  signal.throwIfAborted()
  const point = pointOf(await makeOwnFolder(mounts))
  const unmount = () => takeAway(host, point, new AbortController().signal)
  try {
    const bare = (await stat(point.here)).dev
    await mount(host, nfs, point, signal)
    const device = (await stat(point.here)).dev
    if (device === bare) throw unseen(nfs, point)
    return { folder: point.folder, device, unmount }
  } catch (error) {
    await unmount()
    throw error
  }
}

async function mount(
  host: Pick<Host, 'run'>,
  nfs: NonNullable<StorePlace['nfs']>,
  { folder }: MountPoint,
  signal: AbortSignal,
): Promise<void> {
  const source = sourceOf(nfs)
  const options = [nfs.options ?? safeOptions, ownOptions].filter((text) => text !== '').join(',')
  const argv = ['mount', '-t', 'nfs', '-o', options, source, folder]
  const result = await run(host, argv, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new SlipwayError('StoreUnreachable', `mounting ${source}: the server does not answer`, {
      nextStep: 'look at the server, its exports and the network',
      cause: error,
    })
  })
  if (result.exitCode !== 0) throw mountError(source, result)
}

function sourceOf({ server, path }: NonNullable<StorePlace['nfs']>): string {
  return `${server}:${path}`
}

/** What would be written then is on the disk of this host, and nobody would look for it there. */
function unseen(nfs: NonNullable<StorePlace['nfs']>, { folder }: MountPoint): SlipwayError {
  return new SlipwayError('StoreRefused', `${sourceOf(nfs)} was mounted at ${folder}, but is not seen there`, {
    nextStep: 'take bg out of the options of the store; in a container, mount the host’s root with HostToContainer',
  })
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

/** Lazily where something still holds it, or the server does not answer: it goes when that ends. What is no mount has only its folder. */
async function takeAway(host: Pick<Host, 'run'>, { folder, here }: MountPoint, signal: AbortSignal): Promise<void> {
  const isDone = (argv: readonly string[]) =>
    run(host, argv, signal).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    )
  if (!(await isDone(['umount', folder]))) await isDone(['umount', '-l', folder])
  await rmdir(here).catch(() => undefined)
}

function run(host: Pick<Host, 'run'>, argv: readonly string[], signal: AbortSignal): Promise<CommandResult> {
  return host.run({ argv, timeoutMs: mountMs }, signal)
}
