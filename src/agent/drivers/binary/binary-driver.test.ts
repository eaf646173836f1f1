import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { RecordingLog } from '../../../../test/fakes/recording-log.ts'
import { type Recording, recordedBinaries } from '../../../../test/samples/recorded-output.ts'
import { FileDisk } from '../../../adapters/disk/file-disk.ts'
import { LinuxHost } from '../../../adapters/host/linux-host.ts'
import { binaryVersionSchema } from '../../../api/binary-notes.ts'
import type { Order } from '../../../api/node-state.ts'
import type { Download } from '../../../ports/download.ts'
import { folderNotes } from '../../journal/notes.ts'
import type { ActStep, Staging } from '../driver.ts'
import { binaryDriver } from './binary-driver.ts'

/** Prints what was recorded for these words, and knows no others. */
const program = ({ argv: [, word], output }: Recording) =>
  `#!/bin/sh\n[ "$*" = '${word}' ] || exit 1\nprintf %s '${output}'\n`
const [oldProgram, newProgram] = recordedBinaries.k3s.map(program) as [string, string]
const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const never = new AbortController().signal

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-binary-'))
  path = join(folder, 'bin/k3s')
  await mkdir(join(folder, 'bin'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const order = (part: Partial<NonNullable<Order['work']['binary']>> = {}, more: Order['work'] = {}): Order =>
  scriptOrder({
    work: { ...more, binary: { name: 'k3s', url: 'https://files.test/k3s', sha256: hash(newProgram), path, ...part } },
  })

/** A server that hands out this content. */
const serving = (content: string): Download => ({
  fetch: async ({ to, mode }) => {
    await mkdir(join(to, '..'), { recursive: true })
    await writeFile(to, content, { mode })
    return undefined
  },
})
const noServer: Download = { fetch: () => Promise.reject(new Error('nothing may be fetched')) }

/** This machine itself; all that is changed lies in the temporary folder. */
function contextOf(one: Order): Staging {
  const host = new LinuxHost({ disk: new FileDisk(), log: new RecordingLog() })
  const bench = new StepBench(one)
  return {
    ...bench.context,
    host,
    notes: folderNotes(host.disk, join(folder, 'notes')),
    stagingFolder: join(folder, 'staging'),
  }
}

const act = async (context: Staging, part: 'do' | 'undo') => {
  const { steps, undo } = binaryDriver(noServer)
  const list = part === 'do' ? steps(context.order) : undo.possible ? undo.steps(context.order) : []
  for (const step of list as readonly ActStep[]) {
    if (await step.holds?.(context, never)) continue
    await step.act(context, never)
    expect(await step.missing?.(context, never)).toBeUndefined()
  }
}

describe('a program in one file', () => {
  it('is refused while the node still works where its folder is read-only, as /usr of an immutable host', async () => {
    await writeFile(path, oldProgram, { mode: 0o755 })
    const context = contextOf(order())
    const run = context.host.run.bind(context.host)
    context.host.run = (command, signal) =>
      command.argv.join(' ') === `test -w ${folder}/bin`
        ? Promise.resolve({ exitCode: 1, stdout: '', stderr: '' })
        : run(command, signal)
    expect(await binaryDriver(serving(newProgram)).stage?.(context, never)).toMatchObject({
      code: 'PathTaken',
      message: expect.stringContaining(`${folder}/bin is mounted read-only`),
    })
  })

  it('is put in place of the old one and taken back', async () => {
    await writeFile(path, oldProgram, { mode: 0o750 })
    const context = contextOf(order())
    const before = await binaryDriver(noServer).inspect(context, never)
    expect(await binaryDriver(serving(newProgram)).stage?.(context, never)).toBeUndefined()
    expect(await readFile(path, 'utf8')).toBe(oldProgram)
    await act(context, 'do')
    expect(await readFile(path, 'utf8')).toBe(newProgram)
    expect((await stat(path)).mode & 0o777).toBe(0o750)
    await act(context, 'do')
    await act(context, 'undo')
    expect(await binaryDriver(noServer).inspect(context, never)).toEqual(before)
    expect(await readdir(join(folder, 'bin'))).toEqual(['k3s'])
  })

  it.each(Object.keys(recordedBinaries) as (keyof typeof recordedBinaries)[])(
    '%s as people have recorded it',
    async (name) => {
      const [older, newer] = recordedBinaries[name]
      const asked = name === 'k0s' ? { versionArguments: ['version'] } : {}
      await writeFile(path, program(older), { mode: 0o755 })
      const context = contextOf(order({ sha256: hash(program(newer)), ...asked }))
      expect(await binaryDriver(serving(program(newer))).stage?.(context, never)).toBeUndefined()
      await act(context, 'do')
      expect(await context.notes.read('binary-version', binaryVersionSchema)).toEqual({ says: newer.output.trim() })
      await act(context, 'undo')
      expect(await readFile(path, 'utf8')).toBe(program(older))
    },
  )

  it('is refused where it does not know the words that ask for its version', async () => {
    const [, k0s] = recordedBinaries.k0s
    const context = contextOf(order({ sha256: hash(program(k0s)) }))
    expect((await binaryDriver(serving(program(k0s))).stage?.(context, never))?.code).toBe('BinaryBroken')
  })

  it('is removed again where there was none', async () => {
    const context = contextOf(order())
    await binaryDriver(serving(newProgram)).stage?.(context, never)
    await act(context, 'do')
    await act(context, 'undo')
    expect(await readdir(join(folder, 'bin'))).toEqual([])
  })

  it('keeps the first old one when it is cut off and run again', async () => {
    await writeFile(path, oldProgram, { mode: 0o755 })
    const context = contextOf(order())
    await binaryDriver(serving(newProgram)).stage?.(context, never)
    const [swap] = binaryDriver(noServer).steps(context.order) as readonly ActStep[]
    await swap?.act(context, never)
    await swap?.act(context, never)
    await act(context, 'undo')
    expect(await readFile(path, 'utf8')).toBe(oldProgram)
  })

  it('goes where a link points', async () => {
    const real = join(folder, 'k3s-real')
    await writeFile(real, oldProgram, { mode: 0o755 })
    await symlink(real, path)
    const context = contextOf(order())
    await binaryDriver(serving(newProgram)).stage?.(context, never)
    await act(context, 'do')
    expect(await readFile(real, 'utf8')).toBe(newProgram)
  })

  it('that does not run here is refused before anything is touched', async () => {
    const context = contextOf(order({ sha256: hash('broken') }))
    expect((await binaryDriver(serving('broken')).stage?.(context, never))?.code).toBe('BinaryBroken')
  })

  it('comes from the bundle alone where the order has one', async () => {
    const bundle = { url: '/srv/bundle.tar', sha256: 'a'.repeat(64) }
    const context = contextOf(order({}, { bundle }))
    expect((await binaryDriver(noServer).stage?.(context, never))?.code).toBe('BundleIncomplete')
    await mkdir(join(folder, 'staging/bundle/binaries'), { recursive: true })
    await writeFile(join(folder, 'staging/bundle/binaries/k3s'), newProgram, { mode: 0o644 })
    expect(await binaryDriver(noServer).stage?.(context, never)).toBeUndefined()
    await act(context, 'do')
    expect(await readFile(path, 'utf8')).toBe(newProgram)
  })
})

describe('its units', () => {
  const show = (state: string, startedMicroseconds: number) =>
    `ActiveState=${state}\nExecMainStartTimestampMonotonic=${startedMicroseconds}\n`
  it.each([
    [
      'started before the file was changed',
      show('active', 99_000_000),
      'boot-1',
      'k3s.service still runs what was there before',
    ],
    ['started after it', show('active', 101_000_000), 'boot-1', undefined],
    ['started in a later boot', show('active', 5_000_000), 'boot-0', undefined],
    ['not up', show('activating', 101_000_000), 'boot-1', 'k3s.service is activating'],
  ])('%s', async (_, answer, bootId, missing) => {
    const bench = new StepBench(order({ restart: ['k3s.service'] }))
    bench.answers({ 'systemctl show': answer })
    await bench.context.notes.write('binary-swapped', { bootId, uptimeSeconds: 100 })
    const restart = binaryDriver(noServer).steps(bench.context.order).at(-1)
    expect(await restart?.missing?.(bench.context, never)).toBe(missing)
    expect(await restart?.holds?.(bench.context, never)).toBe(missing === undefined)
  })

  // The file was changed at 1000 s of wall clock; it is 1100 now, and the machine is up for 500 s.
  it.each([
    ['started before', 399_000_000, false],
    ['started after', 401_000_000, true],
  ])('%s an earlier order changed the file', async (_, started, holds) => {
    const bench = new StepBench(order({ restart: ['k3s.service'] }))
    await bench.put(path, newProgram)
    const { files } = bench.host
    const file = { kind: 'file', mode: 0o755, owner: 'root', group: 'root', bytes: 1, modifiedMs: 1_000_000 } as const
    const host = Object.create(bench.host, { files: { value: { ...files, look: () => Promise.resolve(file) } } })
    bench.answers({
      'systemctl show': show('active', started),
      'cat /proc/uptime': '500.00 900.00\n',
      'date +%s.%N': '1100.000000000\n',
    })
    const restart = binaryDriver(noServer).steps(bench.context.order).at(-1)
    expect(await restart?.holds?.({ ...bench.context, host }, never)).toBe(holds)
  })
})
