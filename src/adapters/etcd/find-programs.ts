// etcd's own programs on a machine that runs etcd, without any download: on its PATH, in the running container of etcd, in the
// image that container was made of. What lies in a container is copied out; etcd's programs need no library.

import { SlipwayError } from '../../api/slipway-error.ts'
import { staticPodImage } from '../../core/kubernetes/static-pod.ts'
import {
  chooseProgram,
  type EtcdProgramName,
  etcdProgramNames,
  missingProgram,
  type OfferedProgram,
  versionPrinted,
} from '../../core/restore/etcd-programs.ts'
import type { Host } from '../../ports/host.ts'

export interface ProgramWish {
  readonly needs: readonly EtcdProgramName[]
  /** The version of the etcd that made the snapshot; undefined where nothing tells. */
  readonly snapshot: string | undefined
  /** Where a person says that they are; nothing else is looked at then. */
  readonly given?: Partial<Readonly<Record<EtcdProgramName, string>>>
  /** Where copies go; made when it is needed. */
  readonly folder: string
}

type Programs = Readonly<Record<EtcdProgramName, OfferedProgram | undefined>>

const manifest = '/etc/kubernetes/manifests/etcd.yaml'
const inImages = '/usr/local/bin'

/** Throws ToolMissing where one that is needed is not there, or opens no snapshot of that version. */
export async function findPrograms(host: Host, wish: ProgramWish, signal: AbortSignal): Promise<Programs> {
  const offers: OfferedProgram[] = []
  for (const source of [ofPath, ofContainer, ofImage]) {
    offers.push(...(await source(host, wish, signal)))
    const chosen = choice(offers, wish)
    if (wish.needs.every((name) => chosen[name])) return chosen
  }
  const chosen = choice(offers, wish)
  const missing = wish.needs.filter((name) => !chosen[name])
  throw new SlipwayError('ToolMissing', missing.map((name) => missingProgram(offers, name, wish.snapshot)).join('; '), {
    nextStep: 'put the programs of that version of etcd on the host and name them with --etcdutl and --etcd',
  })
}

function choice(offers: readonly OfferedProgram[], { snapshot }: ProgramWish): Programs {
  const [etcdutl, etcd] = etcdProgramNames.map((name) => chooseProgram(offers, name, snapshot))
  return { etcdutl, etcd }
}

async function ofPath(host: Host, { needs, given }: ProgramWish, signal: AbortSignal): Promise<OfferedProgram[]> {
  const asked = needs.map((name) => {
    const path = given?.[name]
    return path === undefined ? { name, path: name, from: 'the PATH' } : { name, path, from: path }
  })
  return offered(host, asked, signal)
}

async function ofContainer(host: Host, wish: ProgramWish, signal: AbortSignal): Promise<OfferedProgram[]> {
  for (const pid of await host.files.names('/proc')) {
    if (!/^\d+$/.test(pid) || (await commandOf(host, pid)) !== 'etcd') continue
    const found = await copies(host, wish, { at: `/proc/${pid}/root${inImages}`, from: 'a running container' }, signal)
    if (found.length > 0) return found
  }
  return []
}

/** Undefined for one that ended meanwhile. */
async function commandOf(host: Host, pid: string): Promise<string | undefined> {
  try {
    return (await host.files.read(`/proc/${pid}/comm`))?.trim()
  } catch (error) {
    if (error instanceof SlipwayError && error.code.startsWith('Disk')) return undefined
    throw error
  }
}

/** Of containerd, or of the storage that CRI-O shares with podman. */
async function ofImage(host: Host, wish: ProgramWish, signal: AbortSignal): Promise<OfferedProgram[]> {
  const text = await host.files.read(manifest)
  const image = text === undefined ? undefined : staticPodImage(text)
  if (image === undefined) return []
  const from = `image ${image}`
  const mount = `${wish.folder}/image`
  await host.run({ argv: ['mkdir', '-p', mount] }, signal)
  const containerd = ['ctr', '--namespace=k8s.io', 'images']
  const mounted = await host.run({ argv: [...containerd, 'mount', image, mount] }, signal)
  if (mounted.exitCode === 0) {
    try {
      return await copies(host, wish, { at: `${mount}${inImages}`, from }, signal)
    } finally {
      await host.run({ argv: [...containerd, 'unmount', mount] }, signal)
    }
  }
  const podman = await host.run({ argv: ['podman', 'image', 'mount', image] }, signal)
  if (podman.exitCode !== 0) return []
  try {
    return await copies(host, wish, { at: `${podman.stdout.trim()}${inImages}`, from }, signal)
  } finally {
    await host.run({ argv: ['podman', 'image', 'unmount', image] }, signal)
  }
}

/** Through a program of the machine: what lies behind /proc/PID/root only the kernel can follow. */
async function copies(
  host: Host,
  { needs, folder }: ProgramWish,
  { at, from }: { readonly at: string; readonly from: string },
  signal: AbortSignal,
): Promise<OfferedProgram[]> {
  await host.run({ argv: ['mkdir', '-p', '-m', '0700', folder] }, signal)
  const copied: { name: EtcdProgramName; path: string; from: string }[] = []
  for (const name of needs) {
    const path = `${folder}/${name}`
    const argv = ['cp', '--force', '--dereference', `${at}/${name}`, path]
    if ((await host.run({ argv }, signal)).exitCode === 0) copied.push({ name, path, from })
  }
  return offered(host, copied, signal)
}

async function offered(
  host: Host,
  programs: readonly Omit<OfferedProgram, 'version'>[],
  signal: AbortSignal,
): Promise<OfferedProgram[]> {
  const found: OfferedProgram[] = []
  for (const program of programs) {
    const { name, path } = program
    const { stdout } = await host.run({ argv: [path, name === 'etcd' ? '--version' : 'version'] }, signal)
    const version = versionPrinted(name, stdout)
    if (version !== undefined) found.push({ ...program, version })
  }
  return found
}
