import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { RecordingLog } from '../../../../test/fakes/recording-log.ts'
import { FileDisk } from '../../../adapters/disk/file-disk.ts'
import { LinuxHost } from '../../../adapters/host/linux-host.ts'
import { folderNotes } from '../../journal/notes.ts'
import type { ActStep, Staging } from '../driver.ts'
import { stampsDriver } from './stamps.ts'

const never = new AbortController().signal
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-stamps-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** This machine itself; all that is changed lies in the temporary folder. */
function contextOf(...names: readonly string[]): Staging {
  const host = new LinuxHost({ disk: new FileDisk(), log: new RecordingLog() })
  const bench = new StepBench(scriptOrder({ work: { stamps: names.map((name) => join(folder, name)) } }))
  return { ...bench.context, host, notes: folderNotes(host.disk, join(folder, 'notes')) }
}

async function play(context: Staging, steps: readonly ActStep[]): Promise<number> {
  let acted = 0
  for (const step of steps) {
    if (await step.holds?.(context, never)) continue
    await step.act(context, never)
    acted += 1
    expect(await step.missing?.(context, never)).toBeUndefined()
  }
  return acted
}

const doing = (context: Staging) => play(context, stampsDriver.steps(context.order) as readonly ActStep[])
const undoing = (context: Staging) =>
  play(context, (stampsDriver.undo.possible ? stampsDriver.undo.steps(context.order) : []) as readonly ActStep[])

describe('stamps', () => {
  it('are empty files for everybody to read, made once', async () => {
    const context = contextOf('nkd/os/22.stamp', 'nkd/kube/v1.36.3.stamp')
    expect(await stampsDriver.stage?.(context, never)).toBeUndefined()
    expect(await doing(context)).toBe(1)
    expect(await doing(context)).toBe(0)
    const path = join(folder, 'nkd/os/22.stamp')
    expect(await readFile(path, 'utf8')).toBe('')
    expect((await stat(path)).mode & 0o777).toBe(0o644)
    expect(await readdir(join(folder, 'nkd/kube'))).toEqual(['v1.36.3.stamp'])
  })

  it('are taken back with the folders that were made for them', async () => {
    const context = contextOf('nkd/os/22.stamp', 'nkd/kube/v1.36.3.stamp')
    const before = await stampsDriver.inspect(context, never)
    await doing(context)
    await undoing(context)
    await undoing(context)
    expect(await stampsDriver.inspect(context, never)).toEqual(before)
    expect(await readdir(folder)).toEqual(['notes'])
  })

  it('leave what was there', async () => {
    await mkdir(join(folder, 'os'))
    await writeFile(join(folder, 'os/22.stamp'), 'of somebody')
    const context = contextOf('os/22.stamp', 'os/23.stamp')
    await doing(context)
    expect(await readFile(join(folder, 'os/22.stamp'), 'utf8')).toBe('of somebody')
    await undoing(context)
    expect(await readdir(join(folder, 'os'))).toEqual(['22.stamp'])
  })

  it('whose place is taken are refused before the node is drained', async () => {
    await mkdir(join(folder, 'os/22.stamp'), { recursive: true })
    expect(await stampsDriver.stage?.(contextOf('os/22.stamp'), never)).toMatchObject({ code: 'PathTaken' })
  })
})
