// The script with a real shell, over programs that stand for those of the host.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ImagePlan } from '../../../api/os-image.ts'
import { serviceText } from './boot-guard.ts'
import { guardFolder, guardScript } from './guard-script.ts'

const checksum = 'a'.repeat(64)
const [old, next] = [`${checksum}.0`, `${'b'.repeat(64)}.0`]
const plan: ImagePlan = {
  engine: 'rpm-ostree',
  unit: 'kubelet.service',
  name: 'registry.example/os',
  digest: `sha256:${'d'.repeat(64)}`,
  instance: `sha256:${'d'.repeat(64)}`,
  before: { checksum, serial: 0, stateroot: 'os' },
}

/** Before the AT-th program does what it is for, something happens: `kill -s KILL 0` is the power. */
const programHead = `#!/bin/sh
count=$(($(cat "$ROOT/count") + 1))
echo "$count" > "$ROOT/count"
[ "$count" != "$AT" ] || eval "$EVENT"
`
const programs: Readonly<Record<string, string>> = {
  mkdir: 'exec /bin/mkdir "$@"',
  mv: 'exec /bin/mv "$@"',
  rmdir: 'exec /bin/rmdir "$@"',
  sleep: 'echo sleep >> "$ROOT/calls"',
  sync: '',
  ostree: 'echo "* os $(cat "$ROOT/booted")"',
  // A unit that is not failed, and a reboot that is only noted.
  systemctl: '[ "$1" = reboot ] && echo reboot >> "$ROOT/calls"',
  // It turns the boot order around: done twice it is undone.
  'rpm-ostree': `[ "$1" = rollback ] || exit 0
echo rollback >> "$ROOT/calls"
if [ "$(cat "$ROOT/default")" = ${old} ]; then echo ${next}; else echo ${old}; fi > "$ROOT/default"`,
}

class Machine {
  readonly #root = mkdtempSync(join(tmpdir(), 'slipway-guard-'))

  constructor() {
    for (const folder of ['bin', 'run', 'guard']) mkdirSync(join(this.#root, folder))
    for (const [name, body] of Object.entries(programs)) {
      this.#write(`bin/${name}`, `${programHead}${body}\n`)
      chmodSync(join(this.#root, 'bin', name), 0o755)
    }
    for (const file of ['booted', 'default']) this.#write(file, next)
    this.#write('guard/armed', 'order\n')
    this.#write('calls', '')
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true })
  }

  get booted(): string {
    return this.#read('booted')
  }

  get calls(): readonly string[] {
    return this.#read('calls').split('\n').filter(Boolean)
  }

  has(file: string): boolean {
    return existsSync(join(this.#root, 'guard', file))
  }

  /** With another deployment than the default where the boot loader wants it so. */
  boots(booted = this.#read('default')): void {
    rmSync(join(this.#root, 'run'), { recursive: true })
    mkdirSync(join(this.#root, 'run'))
    this.#write('booted', booted)
    this.#write('calls', '')
  }

  /** As systemd would: whether it starts at all. */
  guards(at = 0, event = ''): boolean {
    const conditions = [...serviceText(plan).matchAll(/^ConditionPathExists=(\|?)(.*)$/gm)]
    const isThere = ([, , path = '']: RegExpMatchArray) => existsSync(path.replace(guardFolder, `${this.#root}/guard`))
    const triggers = conditions.filter(([, bar]) => bar === '|')
    const isMet = conditions.filter(([, bar]) => bar === '').every(isThere)
    if (!isMet || (triggers.length > 0 && !triggers.some(isThere))) return false
    this.runs(['watch', 'rpm-ostree', old, '10', 'kubelet.service'], at, event)
    return true
  }

  /** How many programs it started. */
  runs(argv: readonly string[], at = 0, event = ''): number {
    this.#write('count', '0')
    const script = guardScript
      .replaceAll(guardFolder, `${this.#root}/guard`)
      .replaceAll('=/run/', `=${this.#root}/run/`)
    const env = { PATH: `${this.#root}/bin:/usr/bin:/bin`, ROOT: this.#root, AT: String(at), EVENT: event }
    const { stderr } = spawnSync('setsid', ['--wait', '/bin/sh', '-c', script, 'guard', ...argv], { env })
    expect(String(stderr)).toBe('')
    return Number(this.#read('count'))
  }

  #read(file: string): string {
    return readFileSync(join(this.#root, file), 'utf8').trim()
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#root, file), `${text}\n`)
  }
}

const powerLoss = 'kill -s KILL 0'
const goBack = ['return', 'rpm-ostree']
const watch = ['watch', 'rpm-ostree', old, '10', 'kubelet.service']

describe('the way back, where the power is lost before any of its programs', () => {
  it.each([
    ['the guard', watch, ['sleep', 'sleep', 'rollback', 'reboot']],
    ['the agent', goBack, ['rollback', 'reboot']],
  ])('is gone to its end when %s began it', { timeout: 60_000 }, (_, argv, calls) => {
    using whole = new Machine()
    const programsRun = whole.runs(argv)
    expect(whole.calls).toEqual(calls)
    expect(programsRun).toBeGreaterThan(5)
    for (let at = 1; at <= programsRun; at++) {
      using machine = new Machine()
      machine.runs(argv, at, powerLoss)
      machine.boots()
      if (machine.booted === next) expect(machine.guards(), `lost before program ${at}`).toBe(true)
      else if (machine.guards()) expect(machine.calls).toEqual([])
      machine.boots()
      expect(machine.booted, `lost before program ${at}`).toBe(old)
    }
  })
})

it('the guard and the agent never both have their way, whenever the agent confirms', { timeout: 60_000 }, () => {
  using whole = new Machine()
  const programsRun = whole.runs(watch)
  for (let at = 1; at <= programsRun; at++) {
    using machine = new Machine()
    machine.runs(watch, at, 'rm "$ROOT/guard/armed" 2>/dev/null && echo confirmed >> "$ROOT/calls"')
    const words = machine.calls.filter((call) => call === 'confirmed' || call === 'rollback')
    expect(words, `confirmed before program ${at}`).toHaveLength(1)
  }
})

it('the guard waits for nothing where the way back was begun', { timeout: 60_000 }, () => {
  using machine = new Machine()
  // After mv, sync and mkdir: as the roll-back begins.
  machine.runs(goBack, 4, powerLoss)
  machine.boots()
  expect(machine.guards()).toBe(true)
  expect(machine.calls).toEqual(['rollback', 'reboot'])
})

it('the guard leaves a host alone whose boot loader starts the new image all the same', { timeout: 60_000 }, () => {
  using machine = new Machine()
  machine.guards()
  expect(machine.calls).toContain('rollback')
  machine.boots(next)
  expect(machine.guards()).toBe(false)
})

it('the guard leaves the old image alone', () => {
  using machine = new Machine()
  machine.boots(old)
  expect(machine.guards()).toBe(true)
  expect(machine.calls).toEqual([])
  expect(machine.has('armed')).toBe(true)
})
