// A host with the real apt of this machine, which reads all settings, sources, pins and what is installed out of a folder of the
// bench. It can be asked and staged for; nothing is installed.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getuid } from 'node:process'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { MachineFiles } from '../../src/adapters/host/machine-files.ts'
import { aptPackageManager } from '../../src/agent/packages/apt/apt-package-manager.ts'
import type { PackageManager } from '../../src/agent/packages/package-manager.ts'
import type { CommandResult } from '../../src/ports/host.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { DebPackage } from '../bed/deb-package.ts'
import { needHostPackages } from '../bed/host-packages.ts'
import { makeRepository } from '../bed/package-repository.ts'
import { sayToStderr } from '../bed/programs.ts'

const programs = { 'apt-get': 'apt', 'apt-ftparchive': 'apt-utils', 'dpkg-deb': 'dpkg', gpg: 'gpg' }

/**
 * For `describe.skipIf`: why there is none to test with. Staged files belong to root, and repositories are made with Debian's tools,
 * which are installed in CI alone. There the tests run and fail with the reason.
 */
export async function whyNoApt(): Promise<string | undefined> {
  try {
    if (getuid?.() !== 0) throw new Error('they need root')
    await needHostPackages(programs, process.env.CI ? 'install' : 'look')
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    sayToStderr(`\n*** APT TESTS SKIPPED: ${reason}\n`)
    return process.env.CI ? undefined : reason
  }
}

/** Has /etc/apt and /boot in the bench. */
class BenchFiles extends MachineFiles {
  readonly #folder: string

  constructor(folder: string) {
    super('', () => Promise.resolve())
    this.#folder = folder
  }

  override look(path: string) {
    return super.look(this.#at(path))
  }

  override read(path: string, maxBytes?: number) {
    return super.read(this.#at(path), maxBytes)
  }

  override names(folder: string) {
    return super.names(this.#at(folder))
  }

  override freeBytes(path: string) {
    return super.freeBytes(this.#at(path))
  }

  #at(path: string): string {
    return /^\/(etc\/apt|boot)(\/|$)/.test(path) ? `${this.#folder}${path}` : path
  }
}

class BenchHost extends LinuxHost {
  override readonly files: MachineFiles

  constructor(folder: string) {
    const settings = [`APT_CONFIG=${folder}/apt.conf`, `DPKG_ADMINDIR=${folder}/dpkg`]
    super({ disk: new FileDisk(), log: silentLog, enter: ['env', ...settings] })
    this.files = new BenchFiles(folder)
  }
}

export class AptBench implements AsyncDisposable {
  readonly folder: string
  readonly manager: PackageManager
  readonly #host: LinuxHost

  private constructor(folder: string) {
    this.folder = folder
    this.#host = new BenchHost(folder)
    this.manager = aptPackageManager(this.#host)
  }

  /** `settings`: the host's own apt.conf; `installed`: names with their versions. */
  static async open(settings: string, installed: Readonly<Record<string, string>>): Promise<AptBench> {
    const bench = new AptBench(await mkdtemp(join(tmpdir(), 'slipway-apt-')))
    const { folder } = bench
    for (const name of ['dpkg/info', 'dpkg/updates', 'etc/apt/sources.list.d']) {
      await mkdir(join(folder, name), { recursive: true })
    }
    const own = [
      `Dir::Etc::parts "/dev/null";`,
      `Dir::Etc::main "/dev/null";`,
      `Dir::Etc::preferences "${folder}/etc/apt/preferences";`,
      `Dir::State::status "${folder}/dpkg/status";`,
      `Dir::State::extended_states "${folder}/extended_states";`,
    ]
    await bench.write('/apt.conf', `${own.join('\n')}\n${settings}\n`)
    const stanzas = Object.entries(installed).map(
      ([name, version]) =>
        `Package: ${name}\nStatus: install ok installed\nMaintainer: bench\nArchitecture: all\nVersion: ${version}\nDescription: ${name}\n\n`,
    )
    await bench.write('/dpkg/status', stanzas.join(''))
    return bench
  }

  async write(path: string, content: string): Promise<void> {
    await mkdir(dirname(`${this.folder}${path}`), { recursive: true })
    await writeFile(`${this.folder}${path}`, content)
  }

  /** Makes a repository and a source that names it; returns its folder. */
  async publish(
    name: string,
    packages: readonly DebPackage[],
    release: Readonly<Record<string, string>>,
  ): Promise<string> {
    const folder = join(this.folder, 'repositories', name)
    await makeRepository(folder, packages, { signedBy: 'nobody', release })
    await this.write(`/etc/apt/sources.list.d/${name}.list`, `deb [trusted=yes] file:${folder} ./\n`)
    return folder
  }

  run(argv: readonly string[]): Promise<CommandResult> {
    return this.#host.run({ argv, env: { LC_ALL: 'C' } }, new AbortController().signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
