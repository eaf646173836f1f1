// What a look at the machine shows. Every part is optional and bounded in time: a tool that hangs or says nonsense costs its own
// fact only, and is logged.

import { arch, release } from 'node:os'
import { bootcStatus, osImageFacts, rpmOstreeStatus } from '../../../core/image/status.ts'
import type { Command, CommandResult, HostFacts } from '../../../ports/host.ts'
import type { HostFiles } from '../../../ports/host-files.ts'
import type { Log } from '../../../ports/log.ts'
import { certificateFacts } from './certificates.ts'
import { cgroupVersion, freeGiB, kubeletFlags, serverOfKubelet } from './preflight-facts.ts'
import {
  chosenRuntime,
  etcdVersion,
  kubeletVersion,
  manifestImageTag,
  type RuntimeProgram,
  runtimePrograms,
  runtimeVersion,
} from './program-version.ts'
import { type RebootNeed, rebootNeed } from './reboot-required.ts'
import { offeredByApt, offeredByDnf } from './versions-on-offer.ts'

export interface FactSources {
  readonly files: HostFiles
  readonly log: Log
  run(command: Command, signal: AbortSignal): Promise<CommandResult>
}

type PackageManager = NonNullable<HostFacts['packageManager']>
type ImageManager = NonNullable<HostFacts['imageManager']>

const timeoutMs = 20_000
const mostVersions = 100
const manifests = '/etc/kubernetes/manifests'
/** The name Kubernetes gives to what Node.js calls x64. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

export async function readHostFacts(
  sources: FactSources,
  signal: AbortSignal,
  kernel: string = release(),
): Promise<HostFacts> {
  signal.throwIfAborted()
  const look = new Look(sources, signal)
  const [packageManager, imageManager] = await Promise.all([
    look.optional('package manager', () => look.packageManager()),
    look.optional('image manager', () => look.imageManager()),
  ])
  const [os, kubelet, apiServer, offered, osImage, runtime, etcd, reboot, certificates] = await Promise.all([
    look.optional('operating system', () => look.operatingSystem()),
    look.optional('kubelet', async () => kubeletVersion(await look.says(['kubelet', '--version']))),
    look.optional('API server', () => look.manifestVersion('kube-apiserver')),
    look.optional('versions on offer', () => look.versionsOnOffer(packageManager)),
    look.optional('booted image', () => look.bootedImage(imageManager)),
    look.optional('container runtime', () => look.runtime()),
    look.optional('etcd', () => look.etcd()),
    look.optional('reboot required', () => look.rebootNeed(packageManager, kernel)),
    look.optional('certificates', () => look.certificates()),
  ])
  const [free, cgroup, flags, server] = await Promise.all([
    look.optional('free space', () => freeGiB(sources.files)),
    look.optional('cgroup version', async () =>
      cgroupVersion(await look.says(['stat', '-fc', '%T', '/sys/fs/cgroup'])),
    ),
    look.optional('kubelet flags', () => kubeletFlags(sources.files)),
    look.optional('API server of the kubelet', () => serverOfKubelet(sources.files)),
  ])
  const architecture = arch()
  return {
    os: (os ?? 'Linux').slice(0, 256),
    kernel,
    architecture: architectures[architecture] ?? architecture,
    ...(kubelet !== undefined && { kubelet }),
    ...(apiServer !== undefined && { apiServer }),
    versionsOnOffer: [...(offered ?? [])].slice(-mostVersions),
    ...(packageManager && { packageManager }),
    ...(imageManager && { imageManager }),
    ...(osImage && { osImage }),
    ...(runtime !== undefined && { runtime: runtime.slice(0, 128) }),
    ...(etcd !== undefined && { etcd }),
    ...(reboot?.kind === 'Required' && { rebootRequired: reboot.reason }),
    ...(reboot?.kind === 'Unknown' && { rebootUnknown: reboot.because }),
    ...(reboot === undefined && { rebootUnknown: 'looking for it failed; the log of the agent says why' }),
    ...certificates,
    ...(free !== undefined && { freeGiB: free }),
    ...(cgroup && { cgroup }),
    ...(flags && { kubeletFlags: flags }),
    ...(server && { kubeletServer: server }),
  }
}

export function prettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1]?.trim() ?? 'Linux'
  const quoted = /^(["'])(.*)\1$/.exec(value)
  return quoted?.[2]?.replace(/\\(["$`\\])/g, '$1') ?? value
}

class Look {
  readonly #sources: FactSources
  readonly #signal: AbortSignal

  constructor(sources: FactSources, signal: AbortSignal) {
    this.#sources = sources
    this.#signal = signal
  }

  async optional<T>(fact: string, find: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await find()
    } catch (error) {
      if (this.#signal.aborted) throw error
      this.#sources.log.warn('a fact of the host could not be found out', { fact, error })
      return undefined
    }
  }

  /** What the program prints; nothing where it is not there or fails. */
  async says(argv: readonly string[]): Promise<string> {
    const { exitCode, stdout } = await this.#run(argv)
    return exitCode === 0 ? stdout : ''
  }

  async operatingSystem(): Promise<string> {
    const { files } = this.#sources
    return prettyName((await files.read('/etc/os-release')) ?? (await files.read('/usr/lib/os-release')) ?? '')
  }

  /** None on a host booted from an image: packages installed there would be gone with the next one. */
  async packageManager(): Promise<PackageManager | undefined> {
    if (await this.#isThere('/run/ostree-booted')) return undefined
    if (await this.#isThere('/usr/bin/apt-get')) return 'apt'
    if (await this.#isThere('/usr/bin/dnf')) return 'dnf'
    return (await this.#isThere('/usr/bin/yum')) ? 'yum' : undefined
  }

  async imageManager(): Promise<ImageManager | undefined> {
    if (!(await this.#isThere('/run/ostree-booted'))) return undefined
    for (const name of ['rpm-ostree', 'bootc'] as const) if (await this.#isThere(`/usr/bin/${name}`)) return name
    return 'ostree'
  }

  async bootedImage(manager: ImageManager | undefined): Promise<HostFacts['osImage']> {
    if (manager === undefined || manager === 'ostree') return undefined
    const status = await this.says([manager, 'status', '--json'])
    if (status === '') return undefined
    return osImageFacts(manager === 'bootc' ? bootcStatus(status) : rpmOstreeStatus(status))
  }

  async manifestVersion(name: string): Promise<string | undefined> {
    const manifest = await this.#sources.files.read(`${manifests}/${name}.yaml`)
    return manifest === undefined ? undefined : manifestImageTag(manifest)
  }

  async etcd(): Promise<string | undefined> {
    return (await this.manifestVersion('etcd')) ?? etcdVersion(await this.says(['etcd', '--version']))
  }

  certificates(): Promise<Partial<HostFacts>> {
    const { files, log } = this.#sources
    return certificateFacts(files, (path, error) => log.warn('a certificate cannot be read', { path, error }))
  }

  /** The one the kubelet uses; else the first that is installed. */
  async runtime(): Promise<string | undefined> {
    const { files } = this.#sources
    let chosen: RuntimeProgram | undefined
    // What stands in an earlier one overrules the later ones.
    for (const name of ['kubeadm-flags.env', 'instance-config.yaml', 'config.yaml'])
      chosen ??= chosenRuntime((await files.read(`/var/lib/kubelet/${name}`)) ?? '')
    for (const program of chosen ? [chosen] : runtimePrograms) {
      const version = await this.#runtimeVersion(program)
      if (version !== undefined) return `${program.name} ${version}`
    }
    return undefined
  }

  async versionsOnOffer(manager: PackageManager | undefined): Promise<readonly string[]> {
    switch (manager) {
      case 'apt':
        return offeredByApt(await this.says(['apt-cache', 'madison', 'kubeadm']))
      case 'dnf':
      case 'yum':
        return offeredByDnf(
          // Kubernetes' own instructions exclude its packages from ordinary updates.
          await this.says([manager, '-C', '-q', '--disableexcludes=all', 'list', '--showduplicates', 'kubeadm']),
        )
      case undefined:
        return []
    }
  }

  rebootNeed(manager: PackageManager | undefined, kernel: string): Promise<RebootNeed> {
    const { files } = this.#sources
    return rebootNeed({ files, manager, kernel, now: new Date(), run: (argv) => this.#run(argv) })
  }

  async #runtimeVersion({ argv }: RuntimeProgram): Promise<string | undefined> {
    return runtimeVersion(await this.says(argv))
  }

  async #isThere(path: string): Promise<boolean> {
    return (await this.#sources.files.look(path)).kind !== 'none'
  }

  #run(argv: readonly string[]): Promise<CommandResult> {
    return this.#sources.run({ argv, env: { LC_ALL: 'C' }, timeoutMs }, this.#signal)
  }
}
