// Sources, settings and pins of a host's own, with the real apt.

import { truncate } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { AptBench, whyNoApt } from '../../../../test/agent/apt-bench.ts'
import type { StageResult, UpgradeRequest } from '../package-manager.ts'

const missing = await whyNoApt()
const signal = new AbortController().signal
const debian = { Origin: 'Debian', Suite: 'stable', Codename: 'bookworm' }
const security = { Origin: 'Debian', Suite: 'stable-security', Codename: 'bookworm-security' }
const defaultRelease = 'APT::Default-Release "bookworm";'

const staged = (result: StageResult) => {
  if (!result.ok) throw new Error(`${result.reason.code}: ${result.reason.message}`)
  return result.staged
}
const named = (result: StageResult) => staged(result).packages.map(({ name, version }) => `${name} ${version}`)

const upgradeOf = (bench: AptBench, more: Partial<UpgradeRequest>): Promise<StageResult> =>
  bench.manager.stageUpgrade(
    { folder: `${bench.folder}/staging/one`, sources: { from: 'Host' }, upgrade: 'All', except: [], ...more },
    signal,
  )

describe.skipIf(missing)('a host with APT::Default-Release', () => {
  it('installs what was staged, though no release is known without sources', async () => {
    await using bench = await AptBench.open(defaultRelease, { plain: '1.0' })
    await bench.publish('debian', [{ name: 'plain', version: '2.0' }], debian)
    const result = staged(await upgradeOf(bench, {}))
    const [file = ''] = result.packages.map((each) => each.file ?? '')
    const offline = ['apt-get', '-c', `${result.folder}/offline.conf`, '--simulate', 'install', file]
    expect(await bench.run(offline)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Inst plain [1.0]') })
  })

  it('takes packages from a bundle, which is of no release', async () => {
    await using bench = await AptBench.open(defaultRelease, { plain: '1.0' })
    const folder = await bench.publish('bundle', [{ name: 'plain', version: '2.0' }], {})
    expect(named(await upgradeOf(bench, { sources: { from: 'Folder', folder } }))).toEqual(['plain 2.0'])
  })

  it('takes security updates only, where nothing else was asked for', async () => {
    await using bench = await AptBench.open(defaultRelease, { plain: '1.0', leaky: '1.0' })
    const newer = ['plain', 'leaky'].map((name) => ({ name, version: '3.0' }))
    await bench.publish('debian', newer, debian)
    await bench.publish('security', [{ name: 'leaky', version: '1.0+deb1' }], security)
    expect(named(await upgradeOf(bench, { upgrade: 'Security' }))).toEqual(['leaky 1.0+deb1'])
  })

  it('stays with its release', async () => {
    await using bench = await AptBench.open(defaultRelease, { plain: '1.0' })
    await bench.publish('debian', [{ name: 'plain', version: '2.0' }], debian)
    await bench.publish('testing', [{ name: 'plain', version: '9.0' }], { Suite: 'testing', Codename: 'trixie' })
    expect(named(await upgradeOf(bench, {}))).toEqual(['plain 2.0'])
  })
})

describe.skipIf(missing)('a host with pins', () => {
  it.each(['/etc/apt/preferences', '/etc/apt/preferences.d/kubernetes'])(
    'keeps the exceptions of an upgrade as they are, whatever %s says',
    async (path) => {
      await using bench = await AptBench.open('', { kubelet: '1.35.4-1.1', plain: '1.0' })
      const kubelets = ['1.35.5-1.1', '1.36.3-1.1'].map((version) => ({ name: 'kubelet', version }))
      await bench.publish('debian', [...kubelets, { name: 'plain', version: '2.0' }], debian)
      await bench.write(path, 'Package: kubelet\nPin: version 1.35.*\nPin-Priority: 1001\n')
      expect(named(await upgradeOf(bench, { except: ['kubelet'] }))).toEqual(['plain 2.0'])
    },
  )

  it('has them followed otherwise', async () => {
    await using bench = await AptBench.open('', { kubelet: '1.35.4-1.1', plain: '1.0' })
    const kubelets = ['1.35.5-1.1', '1.36.3-1.1'].map((version) => ({ name: 'kubelet', version }))
    await bench.publish('debian', [...kubelets, { name: 'plain', version: '2.0' }], debian)
    await bench.write('/etc/apt/preferences', 'Package: kubelet\nPin: version 1.35.*\nPin-Priority: 1001\n')
    await bench.write('/etc/apt/preferences.d/plain.pref', 'Package: plain\nPin: version 1.0\nPin-Priority: 1001\n')
    expect(named(await upgradeOf(bench, {}))).toEqual(['kubelet 1.35.5-1.1'])
  })
})

describe.skipIf(missing)('a host with a full /boot', () => {
  it('is not given another kernel, but all else', async () => {
    await using bench = await AptBench.open('', { plain: '1.0', 'linux-image-amd64': '1.0' })
    await bench.publish('debian', [{ name: 'plain', version: '2.0' }], debian)
    await bench.write('/boot/initrd.img-6.1.0-30-amd64', '')
    // Larger than what is free, without taking any of it.
    await truncate(`${bench.folder}/boot/initrd.img-6.1.0-30-amd64`, 8 * 1024 ** 4)
    expect(named(await upgradeOf(bench, {}))).toEqual(['plain 2.0'])
    await bench.publish('kernel', [{ name: 'linux-image-amd64', version: '2.0' }], debian)
    expect(await upgradeOf(bench, {})).toMatchObject({ ok: false, reason: { code: 'DiskTooFull' } })
  })
})

describe.skipIf(missing)('a host with repositories in its own folders', () => {
  it('has their packages among the staged files', async () => {
    await using bench = await AptBench.open('', { one: '1.0', two: '1.0' })
    const folders = [
      await bench.publish('one', [{ name: 'one', version: '2.0' }], debian),
      await bench.publish('two', [{ name: 'two', version: '2.0' }], debian),
    ]
    for (const name of ['one', 'two']) await bench.write(`/etc/apt/sources.list.d/${name}.list`, '')
    const addresses = folders.map((folder) => `file:${folder}`).join(' ')
    const source = `Types: deb\nURIs:${addresses}\nSuites: ./\nTrusted: yes\n`
    await bench.write('/etc/apt/sources.list.d/both.sources', source)
    expect(named(await upgradeOf(bench, {}))).toEqual(['one 2.0', 'two 2.0'])
  })
})
