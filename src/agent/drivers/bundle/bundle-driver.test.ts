import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { BundleManifest } from '../../../api/bundle.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { manifestText } from '../../../core/bundle/manifest.ts'
import type { Bundles } from '../../../ports/bundles.ts'
import type { Download, DownloadRequest } from '../../../ports/download.ts'
import { judgeLoad } from '../runtime/load-image.ts'
import { bundleDriver } from './bundle-driver.ts'

const sha256 = 'a'.repeat(64)
const contents = { 'images/pause.tar': 'image', 'packages/deb/kubelet_1.36.3-1.1_amd64.deb': 'deb' }
const manifest: BundleManifest = {
  format: 1,
  architecture: 'amd64',
  files: Object.entries(contents).map(([path, content]) => ({ path, bytes: content.length, sha256 })),
}
// `dpkg-deb --field` of the package, shortened.
const control = `Package: kubelet
Version: 1.36.3-1.1
Architecture: amd64
Maintainer: Kubernetes Authors <dev@kubernetes.io>
Depends: iptables (>= 1.4.21), kubernetes-cni (>= 1.2.0)
Description: Node agent for Kubernetes clusters
 The node agent.
 .
 It runs pods.
`

class Bench extends StepBench {
  readonly fetched: DownloadRequest[] = []
  readonly unpacked: string[] = []
  failure: Error | undefined
  bundleBytes = 1000

  constructor(url = '/srv/bundle.tar') {
    super(scriptOrder({ work: { bundle: { url, sha256 } } }))
    this.answers({ 'uname -m': 'x86_64\n', 'dpkg-deb --field': control, 'images import': '' })
  }

  async withApt(): Promise<this> {
    await this.put('/usr/bin/apt-get', '')
    await this.put('/var/lib/dpkg/status', '')
    return this
  }

  stage() {
    const { host } = this
    const download: Download = {
      fetch: async (request) => {
        this.fetched.push(request)
        await this.put(request.to, 'tar')
        return undefined
      },
    }
    const bundles: Bundles = {
      create: () => Promise.reject(new Error('not here')),
      verify: () => Promise.reject(new Error('not here')),
      bytes: () => Promise.resolve(this.bundleBytes),
      unpack: async (file, _sha256, folder) => {
        this.unpacked.push(file)
        if (this.failure) throw this.failure
        for (const [path, content] of Object.entries(contents)) await this.put(`${folder}/${path}`, content)
        await host.files.write(`${folder}/manifest.json`, manifestText(manifest), {
          mode: 0o644,
          owner: 'root',
          group: 'root',
        })
        return manifest
      },
    }
    return bundleDriver({ download, bundles }).stage?.(this.context, this.signal)
  }
}

describe('the bundle of an order', () => {
  it('is unpacked once, indexed for apt, and its images imported once', async () => {
    const bench = await new Bench().withApt()
    expect(await bench.stage()).toBeUndefined()
    const folder = `${bench.context.stagingFolder}/bundle`
    expect(await bench.host.files.read(`${folder}/packages/deb/Packages`)).toBe(
      `${control}Filename: ./kubelet_1.36.3-1.1_amd64.deb\nSize: 3\nSHA256: ${sha256}\n`,
    )
    expect(bench.ran.at(-1)).toMatch(/ ctr --namespace=k8s.io images import .*\/images\/pause.tar$/)
    bench.answers({ 'uname -m': 'x86_64' })
    expect(await bench.stage()).toBeUndefined()
    expect(bench.unpacked).toEqual(['/srv/bundle.tar'])
    expect(bench.fetched).toEqual([])
  })

  it.each([
    { socket: '/run/cri-dockerd.sock', command: 'docker load --input' },
    { socket: '/var/run/crio/crio.sock', command: 'podman load --input' },
    { socket: '/run/containerd/containerd.sock', command: 'ctr --namespace=k8s.io images import' },
  ])('has its images given to the runtime the kubelet uses: $command', async ({ socket, command }) => {
    const bench = await new Bench().withApt()
    bench.answers({ 'uname -m': 'x86_64\n', 'dpkg-deb --field': control, [command]: '' })
    await bench.put('/var/lib/kubelet/instance-config.yaml', `containerRuntimeEndpoint: unix://${socket}\n`)
    expect(await bench.stage()).toBeUndefined()
    expect(bench.ran.at(-1)).toContain(` ${command} ${bench.context.stagingFolder}/bundle/images/pause.tar`)
  })

  it('is unpacked again where something of it is gone', async () => {
    const bench = await new Bench().withApt()
    await bench.stage()
    await bench.host.files.remove(`${bench.context.stagingFolder}/bundle/images/pause.tar`)
    expect(await bench.stage()).toBeUndefined()
    expect(bench.unpacked).toHaveLength(2)
  })

  it('is fetched from an address, and kept unpacked only', async () => {
    const bench = new Bench('https://files.test/bundle.tar')
    expect(await bench.stage()).toBeUndefined()
    const to = `${bench.context.stagingFolder}/bundle.tar`
    expect(bench.fetched).toMatchObject([{ url: 'https://files.test/bundle.tar', sha256, to }])
    expect(bench.unpacked).toEqual([to])
    expect((await bench.host.files.look(to)).kind).toBe('none')
    await bench.stage()
    expect(bench.fetched).toHaveLength(1)
  })

  it.each([
    ['BundleMissing', 'BundleMissing'],
    ['BundleBroken', 'BundleBroken'],
    ['ContentMismatch', 'ContentMismatch'],
    ['DiskFull', 'DiskTooFull'],
  ] as const)('that fails with %s is refused: %s', async (code, reason) => {
    const bench = new Bench()
    bench.failure = new SlipwayError(code, 'it is so')
    expect(await bench.stage()).toMatchObject({ code: reason, message: expect.stringContaining('it is so') })
  })

  it('is tried again after a fault of the disk', async () => {
    const bench = new Bench()
    bench.failure = new SlipwayError('DiskFailed', 'input/output error')
    await expect(bench.stage()).rejects.toMatchObject({ code: 'DiskFailed' })
  })

  it('is not begun where there is no room for it', async () => {
    const bench = new Bench()
    bench.bundleBytes = Number.MAX_SAFE_INTEGER
    expect((await bench.stage())?.code).toBe('DiskTooFull')
    expect(bench.unpacked).toEqual([])
  })

  it('for another architecture is refused', async () => {
    const bench = new Bench()
    bench.answers({ 'uname -m': 'aarch64\n' })
    expect(await bench.stage()).toMatchObject({ code: 'BundleBroken', message: expect.stringContaining('arm64') })
  })

  it.each([
    ['is no package', { exitCode: 2, stderr: 'dpkg-deb: error: not a Debian format archive' }],
    ['names nothing', { stdout: 'Description: nothing\n' }],
  ])('with a deb that %s is refused', async (_what, answer) => {
    const bench = await new Bench().withApt()
    bench.answers({ 'uname -m': 'x86_64', 'dpkg-deb': answer })
    expect(await bench.stage()).toMatchObject({
      code: 'BundleBroken',
      message: expect.stringContaining('kubelet_1.36.3-1.1_amd64.deb of the bundle is not a package'),
    })
  })
})

// What ctr of containerd 2.2 prints.
describe('an image that cannot be imported', () => {
  it.each([
    [127, 'ctr: not found', 'ToolMissing'],
    [1, 'ctr: failed to copy: write /var/lib/containerd/x: no space left on device', 'DiskTooFull'],
    [1, 'ctr: archive/tar: invalid tar header', 'BundleBroken'],
    [1, 'ctr: unrecognized image format', 'BundleBroken'],
  ])('(%s: %s) is a reason', (exitCode, output, code) => {
    expect(judgeLoad('/a.tar', 'ctr', { exitCode, output })?.code).toBe(code)
  })

  it.each([
    'ctr: cannot access socket /run/containerd/containerd.sock: no such file or directory (is containerd running?)',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  ])('while the runtime is away is tried again: %s', (output) => {
    expect(() => judgeLoad('/a.tar', 'ctr', { exitCode: 1, output })).toThrow(/could not be given/)
  })
})
