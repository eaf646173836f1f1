/**
 * A booted machine: systemd as pid 1 in its own namespaces and cgroups, on the bed's bridge. The loop here is its firmware:
 * a reboot comes back by itself, a power-off stays off. The kernel is the host's, so a power loss ends every process at once
 * but loses no page cache.
 *
 *   boot() · reboot() · powerOff() · powerLoss() · isOn · bootId() · waitUntilUp() · waitForNewBoot(id) · unplug() · plugIn()
 *   exec(argv, { input, env, timeoutMs, signal }) → { code, stdout, stderr };  run(argv) → stdout, throws unless 0
 *   readFile(path) · writeFile(path, content, mode) · initPid() · destroy()
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { setCable } from './bed-network.ts'
import { type ExecuteOptions, type Execution, execute } from './execute.ts'
import { freshCgroups, removeCgroups } from './machine-cgroups.ts'

/** What a boot starts from: asked for before each one, so that a machine may boot into another tree than before. */
export interface BootTree {
  readonly root: string
  /** Further arguments of systemd-nspawn: binds, most of all. */
  readonly args: readonly string[]
}

export interface MachineParts {
  /** As the machine calls itself: `node1`. */
  readonly name: string
  /** Of its cgroups, its cable and its network namespace: `slw3n1`. */
  readonly hardware: string
  readonly number: number
  readonly address: string
  /** Its own folder, for its console's log and its disks. */
  readonly folder: string
  readonly networkNamespace: string
  readonly nextTree: () => Promise<BootTree>
  /** Called by `destroy`, when it is off. */
  readonly release: () => Promise<void>
}

export interface ExecOptions extends ExecuteOptions {
  /** Ten minutes if not said; then the program and its process group are killed, and `exec` throws. */
  readonly timeoutMs?: number
}

const rebootCode = 133
const usualTimeoutMs = 600_000
const enterCgroups = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"'
// Killed, systemd-nspawn leaves its lock files: they go with its mount namespace.
const hideLocks = 'mkdir -p /run/systemd/nspawn && mount -t tmpfs tmpfs /run/systemd/nspawn && exec "$@"'
const keepInput = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod "$2" "$1"'
const environment = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'LANG=C.UTF-8',
  'TERM=dumb',
  'DEBIAN_FRONTEND=noninteractive',
  'SYSTEMD_COLORS=0',
]

export class Machine {
  readonly name: string
  readonly number: number
  readonly address: string
  readonly folder: string
  readonly #parts: MachineParts
  #payload: { readonly child: ChildProcess; readonly ended: Promise<void> } | undefined
  #isWanted = false
  #failure: Error | undefined

  constructor(parts: MachineParts) {
    this.name = parts.name
    this.number = parts.number
    this.address = parts.address
    this.folder = parts.folder
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#payload !== undefined
  }

  get consolePath(): string {
    return join(this.folder, 'console.log')
  }

  /** Power on; resolves when systemd is up. */
  async boot(): Promise<void> {
    if (this.isOn) throw new Error(`${this.name} is on already`)
    this.#isWanted = true
    this.#failure = undefined
    await this.#start()
    await this.waitUntilUp()
  }

  /** As a person at the machine would; resolves when systemd is up again with a new boot id. */
  async reboot(): Promise<void> {
    const before = await this.bootId()
    // The connection may break before the answer: the new boot id is the proof.
    await this.exec(['systemctl', 'reboot'])
    await this.waitForNewBoot(before)
  }

  /** As a person would; resolves when it is off. */
  async powerOff(): Promise<void> {
    const ended = this.#payload?.ended
    await this.exec(['systemctl', 'poweroff'])
    await ended
  }

  /** Every process ends at once; the machine stays off. */
  async powerLoss(): Promise<void> {
    this.#isWanted = false
    const payload = this.#payload
    if (payload === undefined) return
    const init = this.initPid()
    if (init === undefined) payload.child.kill('SIGKILL')
    else process.kill(init, 'SIGKILL')
    await payload.ended
  }

  async bootId(): Promise<string> {
    return (await this.readFile('/proc/sys/kernel/random/boot_id')).trim()
  }

  async waitUntilUp(withinMs = 90_000): Promise<void> {
    await this.#until(`${this.name} is up`, withinMs, async () => {
      const { stdout } = await this.exec(['systemctl', 'is-system-running'], { timeoutMs: 5_000 })
      return /^(running|degraded)/.test(stdout)
    })
  }

  async waitForNewBoot(before: string, withinMs = 180_000): Promise<void> {
    await this.#until(`${this.name} has booted again`, withinMs, async () => (await this.bootId()) !== before)
    await this.waitUntilUp()
  }

  /** As root, in all of the machine's namespaces, with a fixed environment and no shell. */
  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<Execution> {
    const init = this.initPid()
    if (init === undefined) throw new Error(`${this.name} is off`)
    const timeoutMs = options.timeoutMs ?? usualTimeoutMs
    const variables = Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`)
    const startMs = performance.now()
    const execution = await execute(
      [
        // Without a fork: one that waits would stop for good when a shutting-down systemd stops its child.
        ...['nsenter', '-t', String(init), '-m', '-u', '-i', '-n', '-p', '-C', '-r', '-w', '--no-fork', '--'],
        // Ends with us, or with the time: `timeout` takes its whole process group along.
        ...['setpriv', '--pdeathsig', 'TERM', 'timeout', '--kill-after=2', (timeoutMs / 1000).toFixed(3)],
        ...['env', '-i', ...environment, ...variables, ...argv],
      ],
      {
        ...(options.input === undefined ? {} : { input: options.input }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
    )
    if (performance.now() - startMs >= timeoutMs) {
      throw new Error(`${this.name}: ${argv.join(' ')} did not end in ${timeoutMs} ms: ${execution.stderr.slice(-500)}`)
    }
    return execution
  }

  /** The program's standard output; throws unless it ends with 0. */
  async run(argv: readonly string[], options: ExecOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.exec(argv, options)
    if (code === 0) return stdout
    const words = `${stdout.slice(-2_000)}${stderr.slice(-2_000)}`.trim()
    throw new Error(`${this.name}: ${argv.join(' ')} ended with ${code}: ${words}`)
  }

  readFile(path: string): Promise<string> {
    return this.run(['cat', '--', path])
  }

  async writeFile(path: string, content: string | Buffer, mode = 0o644): Promise<void> {
    await this.run(['sh', '-c', keepInput, 'write', path, mode.toString(8)], { input: content })
  }

  /** The network cable is pulled; connections stall. */
  unplug(): Promise<void> {
    return setCable(this.#parts.hardware, 'down')
  }

  plugIn(): Promise<void> {
    return setCable(this.#parts.hardware, 'up')
  }

  /** Off, and gone with its disks. */
  async destroy(): Promise<void> {
    await this.powerLoss()
    removeCgroups(this.#parts.hardware)
    await this.#parts.release()
  }

  /** For the moment this process ends. */
  killNow(): void {
    this.#isWanted = false
    this.#payload?.child.kill('SIGKILL')
  }

  async #start(): Promise<void> {
    const { root, args } = await this.#parts.nextTree()
    // The power may have failed in the meantime.
    if (!this.#isWanted) {
      this.#payload = undefined
      return
    }
    const { hardware, networkNamespace } = this.#parts
    const log = openSync(this.consolePath, 'a')
    const child = spawn(
      'setpriv',
      [
        // The kernel ends the machine when this process dies, also by SIGKILL: a pid namespace dies with its first process.
        ...['--pdeathsig', 'KILL', 'sh', '-c', enterCgroups, 'boot', ...freshCgroups(hardware), '--'],
        ...['unshare', '--pid', '--fork', '--kill-child=KILL', '--mount-proc', 'sh', '-c', hideLocks, 'boot'],
        ...['systemd-nspawn', '--quiet', '--directory', root, `--machine=${hardware}`, '--register=no', '--keep-unit'],
        ...[`--network-namespace-path=${networkNamespace}`, '--resolv-conf=off', '--capability=all'],
        ...['--system-call-filter=@keyring bpf', '--console=pipe', '--bind=/dev/kmsg', ...args, '--boot'],
      ],
      { stdio: ['ignore', log, log], env: { ...process.env, SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1' } },
    )
    closeSync(log)
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', resolve)
      child.once('error', () => resolve(null))
    }).then(async (code) => {
      if (code !== rebootCode) {
        this.#payload = undefined
        return
      }
      await this.#start().catch((error: Error) => {
        this.#payload = undefined
        this.#failure = error
      })
    })
    this.#payload = { child, ended }
  }

  /** The machine's pid 1, in our numbers: first in its own namespace, below that of systemd-nspawn, below ours. */
  initPid(): number | undefined {
    const outer = this.#payload?.child.pid
    if (outer === undefined) return undefined
    try {
      const inner = childrenOf(outer).flatMap(childrenOf)
      return inner.find((pid) => /^NSpid:\t\d+\t\d+\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'ENOENT' || code === 'ESRCH') return undefined
      throw error
    }
  }

  async #until(what: string, withinMs: number, isTrue: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + withinMs
    while (!(await isTrue().catch(() => false))) {
      if (this.#failure !== undefined) throw this.#failure
      if (!this.#isWanted || performance.now() > endMs) {
        const console = readFileSync(this.consolePath, 'utf8').trim().split('\n').slice(-15).join('\n')
        throw new Error(`not true ${this.#isWanted ? `within ${withinMs} ms` : 'any more'}: ${what}\n${console}`)
      }
      await wait(100)
    }
  }
}

function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return list === '' ? [] : list.split(' ').map(Number)
}
