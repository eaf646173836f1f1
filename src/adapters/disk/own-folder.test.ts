import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startTimeOf } from '../host/process-table.ts'
import { leftFolders, makeOwnFolder } from './own-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'slipway-own-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)

it('a folder is left when its maker has ended', async () => {
  const parent = join(folder, 'left')
  const maker = spawn('sleep', ['600'])
  await once(maker, 'spawn')
  const startTime = await startTimeOf(maker.pid ?? 0)
  const names = {
    its: `${boot}-${maker.pid}-${startTime}-abcdef`,
    ofBefore: `${boot}-${maker.pid}-${Number(startTime) - 1}-abcdef`,
    ofAnotherBoot: `${boot === '00000000' ? '11111111' : '00000000'}-${maker.pid}-${startTime}-abcdef`,
    ofNobody: 'far',
  }
  const own = await makeOwnFolder(parent)
  for (const name of Object.values(names)) mkdirSync(join(parent, name))
  const { its, ...gone } = names
  expect((await leftFolders(parent)).toSorted()).toEqual(Object.values(gone).toSorted())
  maker.kill('SIGKILL')
  await once(maker, 'exit')
  expect(await leftFolders(parent)).toContain(its)
  expect(await leftFolders(parent)).not.toContain(own)
})

it('what this process made and does not use any more is left, too, where that is known', async () => {
  const parent = join(folder, 'used')
  const [first, second] = [await makeOwnFolder(parent), await makeOwnFolder(parent)]
  expect((await stat(join(parent, first))).mode & 0o777).toBe(0o700)
  expect(await leftFolders(parent, new Set([first]))).toEqual([second])
  expect(await leftFolders(join(folder, 'none'))).toEqual([])
})
