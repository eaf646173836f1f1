import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chartPackage, stamped } from './chart-package.ts'

test('a chart is packed under its name, with the version of the program, the same every time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-chart-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'templates'))
  await writeFile(join(folder, 'Chart.yaml'), 'name: slipway\nversion: 0.0.0\nappVersion: "0.0.0"\n')
  await writeFile(join(folder, 'templates/a.yaml'), 'kind: A\n')
  const packed = await chartPackage(folder, '1.2.3')
  const tar = (...flags: readonly string[]) => execFileSync('tar', [...flags, '-zf', '-'], { input: packed }).toString()
  expect(tar('-t').split('\n')).toEqual(expect.arrayContaining(['slipway/Chart.yaml', 'slipway/templates/a.yaml']))
  const head = execFileSync('tar', ['-xzOf', '-', 'slipway/Chart.yaml'], { input: packed }).toString()
  expect(head).toBe('name: slipway\nversion: 1.2.3\nappVersion: "1.2.3"\n')
  await utimes(join(folder, 'Chart.yaml'), 0, 0)
  expect(await chartPackage(folder, '1.2.3')).toEqual(packed)
})

test('a chart without a place for its version is refused', () => {
  expect(() => stamped('name: slipway\nversion: 1.0.0\n', '1.0.0')).toThrow('appVersion')
})
