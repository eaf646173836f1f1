import type { Command, CommandResult } from '../../src/ports/host.ts'
import type { MemoryDisk } from '../fakes/memory-disk.ts'

export interface PretendUnit {
  load: string
  active: string
  file: string
  /** Its last start was left out. */
  skipped?: boolean
}

const done = (stdout = ''): CommandResult => ({ exitCode: 0, stdout, stderr: '' })
const failed = (stderr: string, exitCode = 1): CommandResult => ({ exitCode, stdout: '', stderr })

/** systemd and the kernel's settings, as far as their commands show them; the words are those of the real ones. */
export class PretendSystem {
  readonly units = new Map<string, PretendUnit>()
  readonly sysctls = new Map<string, string>()
  readonly commands: string[] = []
  /** Units that do not start. */
  readonly broken = new Set<string>()
  /** What happens when a unit starts. */
  readonly onStart = new Map<string, () => void>()
  readonly #disk: () => MemoryDisk

  constructor(disk: () => MemoryDisk) {
    this.#disk = disk
  }

  get restarts(): readonly string[] {
    return this.commands
      .filter((command) => command.startsWith('systemctl restart '))
      .map((command) => command.slice(21))
  }

  fileText(path: string): string | undefined {
    const kept = this.#disk().files.get(`/pretend/files/${encodeURIComponent(path)}`)?.content
    return kept === undefined ? undefined : (JSON.parse(kept) as { content: string }).content
  }

  answer(command: Command): CommandResult {
    const [program = '', ...args] = command.argv
    this.commands.push(command.argv.join(' '))
    if (program === 'systemctl') return this.#systemctl(args)
    if (program === 'sysctl') return this.#sysctl(args)
    return failed('no such program', 127)
  }

  #systemctl([verb = '', ...rest]: readonly string[]): CommandResult {
    if (verb === 'daemon-reload') return done()
    const name = rest.at(-1) ?? ''
    const unit = this.units.get(name)
    if (verb === 'show') {
      const { load, active, file, skipped } = unit ?? { load: 'not-found', active: 'inactive', file: '' }
      const condition = skipped ? 'ConditionResult=no\nConditionTimestampMonotonic=4711\n' : ''
      return done(`LoadState=${load}\nActiveState=${active}\nUnitFileState=${file}\n${condition}`)
    }
    if (!unit) return failed(`Unit ${name} not found.`, 5)
    if (verb === 'enable') unit.file = 'enabled'
    if (verb === 'disable') unit.file = 'disabled'
    if (verb === 'stop') unit.active = 'inactive'
    if (verb === 'start' || verb === 'restart') {
      if (unit.load === 'not-found') return failed(`Unit ${name} not found.`, 5)
      unit.active = this.broken.has(name) ? 'failed' : 'active'
      if (this.broken.has(name))
        return failed(`Job for ${name} failed because the control process exited with error code.`)
      this.onStart.get(name)?.()
    }
    return done()
  }

  #sysctl(args: readonly string[]): CommandResult {
    const last = args.at(-1) ?? ''
    if (args[0] === '-n') {
      const value = this.sysctls.get(last)
      return value === undefined
        ? failed(`sysctl: cannot stat /proc/sys/${last}: No such file or directory`)
        : done(`${value}\n`)
    }
    if (args.includes('-w') && !this.sysctls.has(last.split('=')[0] ?? '')) {
      return failed(`sysctl: cannot stat /proc/sys/${last}: No such file or directory`, 255)
    }
    const lines = args.includes('-p') ? (this.fileText(last) ?? '').split('\n') : [last]
    for (const line of lines) {
      const match = /^([^#=]+?)\s*=\s*(.*)$/.exec(line)
      if (match?.[1] !== undefined && this.sysctls.has(match[1]))
        this.sysctls.set(match[1], (match[2] ?? '').replaceAll(' ', '\t'))
    }
    return done()
  }
}
