// What tools print: captured on machines of test/bed, with another address of the repository; what could not be had there says its source.
// What image managers print is tried beside its parsers, in core/image.

import { describe, expect, it, vi } from 'vitest'
import { MemoryDisk } from '../../../../test/fakes/memory-disk.ts'
import { RecordingLog } from '../../../../test/fakes/recording-log.ts'
import { recordedRuntimes } from '../../../../test/samples/recorded-output.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { CommandResult } from '../../../ports/host.ts'
import { DiskFiles } from '../../../sim/disk-files.ts'
import { prettyName, readHostFacts } from './host-facts.ts'
import { chosenRuntime, etcdVersion, kubeletVersion, manifestImageTag, runtimeVersion } from './program-version.ts'
import { offeredByApt, offeredByDnf } from './versions-on-offer.ts'

const never = new AbortController().signal

describe('what programs say of themselves', () => {
  it.each([
    ['Kubernetes v1.36.3\n', 'v1.36.3'],
    ['Kubernetes v1.37.0-rc.1\n', 'v1.37.0-rc.1'],
    ['kubelet: command not found', undefined],
    ['', undefined],
  ])('kubelet %j', (output, version) => expect(kubeletVersion(output)).toBe(version))

  it.each([
    ['containerd github.com/containerd/containerd/v2 v2.2.9 module\n', '2.2.9'],
    ['containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3\n', '1.6.20~ds1'],
    ['Docker version 20.10.24+dfsg1, build 297e128\n', '20.10.24+dfsg1'],
    [recordedRuntimes['cri-o'][0].output, '1.23.2'],
    [recordedRuntimes['cri-o'][1].output, '1.29.1'],
    [recordedRuntimes.iSulad[0].output, '2.0.18'],
    [recordedRuntimes.iSulad[1].output, '2.1.5'],
    ['nonsense', undefined],
  ])('runtime %j', (output, version) => expect(runtimeVersion(output)).toBe(version))

  it.each([
    ['    image: registry.k8s.io/kube-apiserver:v1.36.3\n', 'v1.36.3'],
    ['    image: "mirror:5000/kube-apiserver:v1.36.3@sha256:abc"\n', 'v1.36.3'],
    ['  - image: registry.k8s.io/etcd:3.6.4-0\n', '3.6.4-0'],
    ['    image: mirror:5000/kube-apiserver\n', undefined],
  ])('manifest %j', (manifest, tag) => expect(manifestImageTag(manifest)).toBe(tag))

  it('etcd', () => {
    const said = 'etcd Version: 3.6.8\nGit SHA: Not provided (use ./build instead of go build)\nGo Version: go1.26.8\n'
    expect(etcdVersion(said)).toBe('3.6.8')
  })

  it.each([
    ['KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock"', 'containerd'],
    ['containerRuntimeEndpoint: "unix:///var/run/crio/crio.sock"\n', 'cri-o'],
    ['--container-runtime-endpoint=unix:///var/run/cri-dockerd.sock', 'docker'],
    ['KUBELET_KUBEADM_ARGS=""', undefined],
  ])('the runtime a kubelet uses: %j', (settings, name) => expect(chosenRuntime(settings)?.name).toBe(name))

  it('the operating system', () => {
    expect(prettyName('NAME=x\nPRETTY_NAME="A \\"B\\" 12"\n')).toBe('A "B" 12')
    expect(prettyName('PRETTY_NAME=Plain')).toBe('Plain')
    expect(prettyName('')).toBe('Linux')
  })
})

describe('versions on offer', () => {
  it('of apt, oldest first, each once', () => {
    const madison = [
      '   kubeadm | 1:1.35.4-2.1 | http://mirror.example/a  Packages',
      '   kubeadm | 1.37.0~rc.1-1.1 | http://mirror.example/a  Packages',
      '   kubeadm | 1.36.10-1.1 | http://mirror.example/a  Packages',
      '   kubeadm | 1.36.3-1.1 | http://mirror.example/a  Packages',
      // Of a second repository, and one that is no version of Kubernetes.
      '   kubeadm | 1.36.3-1.1 | http://mirror.example/b  Packages',
      '   kubeadm | unheard-of | http://mirror.example/b  Packages',
    ].join('\n')
    expect(offeredByApt(madison)).toEqual(['v1.35.4', 'v1.36.3', 'v1.36.10', 'v1.37.0-rc.1'])
    expect(offeredByApt('')).toEqual([])
  })

  it('of dnf', () => {
    const list = [
      'Installed Packages',
      'kubeadm.x86_64                   1.35.4-150500.1.1                   @kubernetes',
      'Available Packages',
      'kubeadm.x86_64                   1.35.4-150500.1.1                   kubernetes ',
      'kubeadm.x86_64                   1.36.0-150500.1.1                   kubernetes ',
      'kubeadm.x86_64                   1.36.3-150500.1.1                   kubernetes ',
    ].join('\n')
    expect(offeredByDnf(list)).toEqual(['v1.35.4', 'v1.36.0', 'v1.36.3'])
  })
})

describe('the facts of a host', () => {
  const attributes = { mode: 0o644, owner: 'root', group: 'root' }

  async function lookAt(
    paths: Readonly<Record<string, string>>,
    answer: (program: string, argv: readonly string[]) => Partial<CommandResult> | Error,
    unreadable?: string,
  ) {
    const files = new DiskFiles(new MemoryDisk())
    for (const [path, content] of Object.entries(paths)) await files.write(path, content, attributes)
    const read = files.read.bind(files)
    const broken = () => Promise.reject(new SlipwayError('DiskFailed', 'input/output error'))
    vi.spyOn(files, 'read').mockImplementation((path) => (path === unreadable ? broken() : read(path)))
    const log = new RecordingLog()
    const run = ({ argv }: { readonly argv: readonly string[] }): Promise<CommandResult> => {
      const said = answer(argv[0] ?? '', argv)
      if (said instanceof Error) return Promise.reject(said)
      return Promise.resolve({ exitCode: 0, stdout: '', stderr: '', ...said })
    }
    return { facts: await readHostFacts({ files, log, run }, never), log }
  }

  it('of the runtime that kubeadm 1.34 and later note beside the kubelet’s configuration', async () => {
    const { facts } = await lookAt(
      {
        '/var/lib/kubelet/kubeadm-flags.env': 'KUBELET_KUBEADM_ARGS=""\n',
        '/var/lib/kubelet/config.yaml': 'containerRuntimeEndpoint: ""\n',
        '/var/lib/kubelet/instance-config.yaml': 'containerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n',
      },
      (program) => {
        if (program === 'containerd') return { stdout: 'containerd github.com/containerd/containerd/v2 v2.2.9 1c44\n' }
        if (program === 'crio') return { stdout: 'crio version 1.35.1\n' }
        return { exitCode: 127 }
      },
    )
    expect(facts.runtime).toBe('cri-o 1.35.1')
  })

  it('of a control plane on Debian', async () => {
    const { facts, log } = await lookAt(
      {
        '/etc/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
        '/usr/bin/apt-get': '',
        '/etc/kubernetes/manifests/kube-apiserver.yaml': [
          'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 10.0.0.1:6443',
          'image: registry.k8s.io/kube-apiserver:v1.36.3\n',
        ].join('\n'),
        '/etc/kubernetes/kubelet.conf': 'clusters:\n- cluster:\n    server: https://lb.example:6443\n',
        '/etc/default/kubelet': '# --container-runtime=remote\nKUBELET_EXTRA_ARGS="--register-schedulable=true"\n',
        '/etc/systemd/system/kubelet.service.d/20-own.conf': 'ExecStart=/usr/bin/kubelet --cloud-config /etc/cloud\n',
        '/etc/kubernetes/manifests/etcd.yaml': 'image: registry.k8s.io/etcd:3.6.4-0\n',
        '/etc/kubernetes/pki/ca.crt': certificate,
        '/etc/kubernetes/pki/ca.key': 'never read',
        '/var/run/reboot-required': '*** System restart required ***\n',
        '/var/run/reboot-required.pkgs': 'libc6\n',
      },
      (program) => {
        if (program === 'kubelet') return { stdout: 'Kubernetes v1.36.3\n' }
        if (program === 'containerd') return { stdout: 'containerd github.com/containerd/containerd/v2 v2.2.9 1c44\n' }
        if (program === 'stat') return { stdout: 'cgroup2fs\n' }
        if (program === 'apt-cache') return { stdout: '   kubeadm | 1.36.3-1.1 | http://x  Packages\n' }
        return { exitCode: 127 }
      },
    )
    expect(facts).toMatchObject({
      os: 'Debian GNU/Linux 12 (bookworm)',
      kubelet: 'v1.36.3',
      apiServer: 'v1.36.3',
      etcd: '3.6.4-0',
      packageManager: 'apt',
      runtime: 'containerd 2.2.9',
      rebootRequired: 'wanted by libc6',
      versionsOnOffer: ['v1.36.3'],
      certificatesExpireAt: '2036-11-12T09:01:36.000Z',
      freeGiB: expect.any(Number),
      cgroup: 'v2',
      kubeletFlags: ['register-schedulable', 'cloud-config'],
      kubeletServer: { url: 'https://lb.example:6443', own: false },
    })
    expect(facts.imageManager).toBeUndefined()
    expect(log.lines).toEqual([])
  })

  it('of a host booted from an image', async () => {
    const digest = `sha256:${'c'.repeat(64)}`
    const named = { osname: 'fedora', serial: 0, checksum: 'b'.repeat(64), version: '42.1' }
    const deployment = {
      ...{ ...named, booted: true, staged: false },
      'container-image-reference': 'ostree-unverified-registry:r.example/os:1',
      'container-image-reference-digest': digest,
    }
    const status = { deployments: [deployment], transaction: null }
    const { facts } = await lookAt(
      { '/run/ostree-booted': '', '/usr/bin/rpm-ostree': '', '/usr/bin/dnf': '' },
      (program) => (program === 'rpm-ostree' ? { stdout: JSON.stringify(status) } : { exitCode: 127 }),
    )
    expect(facts).toMatchObject({ imageManager: 'rpm-ostree', osImage: { image: 'r.example/os:1', digest } })
    expect(facts.packageManager).toBeUndefined()
  })

  it('come without the parts that fail, and the log says why', async () => {
    const { facts, log } = await lookAt({ '/usr/bin/dnf': '', '/etc/kubernetes/pki/ca.crt': broken }, (program) =>
      program === 'kubelet' ? new SlipwayError('CommandTimedOut', 'kubelet did not end within 20 s') : { exitCode: 1 },
    )
    expect(facts).toMatchObject({ os: 'Linux', packageManager: 'dnf', versionsOnOffer: [] })
    expect(facts.kubelet).toBeUndefined()
    expect(facts.certificatesExpireAt).toBeUndefined()
    expect(log.lines.map(({ fields }) => fields.fact ?? fields.path).sort()).toEqual([
      '/etc/kubernetes/pki/ca.crt',
      'kubelet',
    ])
  })

  it.each([
    ['that kubeadm renews', { 'ca.key': '' }, 'apiserver.crt', {}],
    ['of an external authority', {}, 'apiserver.crt', { unrenewedExpireAt: leafEnd }],
    ['that kubeadm does not know', { 'ca.key': '' }, 'own.crt', { unrenewedExpireAt: leafEnd }],
    ['of the authority of etcd', { 'ca.key': '', 'etcd/ca.key': '' }, 'etcd/server.crt', {}],
    ['of an external authority of etcd', { 'ca.key': '' }, 'etcd/server.crt', { unrenewedExpireAt: leafEnd }],
  ])('tell of certificates %s apart from the authorities', async (_name, keys, name, unrenewed) => {
    const pki = Object.entries({ ...keys, 'ca.crt': certificate, [name]: leaf })
    const paths = Object.fromEntries(pki.map(([file, text]) => [`/etc/kubernetes/pki/${file}`, text]))
    const { facts } = await lookAt(paths, () => ({ exitCode: 127 }))
    const { certificatesExpireAt, authoritiesExpireAt, unrenewedExpireAt } = facts
    expect({ certificatesExpireAt, authoritiesExpireAt, unrenewedExpireAt }).toEqual({
      certificatesExpireAt: leafEnd,
      authoritiesExpireAt: '2036-11-12T09:01:36.000Z',
      ...unrenewed,
    })
  })

  it.each([
    ['controller-manager.conf', { 'pki/ca.key': '' }, {}],
    ['scheduler.conf', {}, { unrenewedExpireAt: leafEnd }],
    ['kubelet.conf', {}, { certificatesExpireAt: '2036-11-12T09:01:36.000Z' }],
  ])('tell of the certificate in %s', async (name, keys, other) => {
    const user = `users:\n- name: u\n  user:\n    client-certificate-data: ${Buffer.from(leaf).toString('base64')}\n`
    const paths = { ...keys, 'pki/ca.crt': certificate, [name]: user }
    const placed = Object.entries(paths).map(([file, text]) => [`/etc/kubernetes/${file}`, text])
    const { facts } = await lookAt(Object.fromEntries(placed), () => ({ exitCode: 127 }))
    const { certificatesExpireAt, unrenewedExpireAt } = facts
    expect({ certificatesExpireAt, unrenewedExpireAt }).toEqual({ certificatesExpireAt: leafEnd, ...other })
  })

  it('tell of the certificates that can be read, and the log of the others', async () => {
    const pki = { '/etc/kubernetes/pki/ca.crt': certificate, '/etc/kubernetes/pki/odd.crt': broken }
    const { facts, log } = await lookAt(pki, () => ({ exitCode: 127 }))
    expect(facts.certificatesExpireAt).toBe('2036-11-12T09:01:36.000Z')
    expect(log.lines.map(({ fields }) => fields.path)).toEqual(['/etc/kubernetes/pki/odd.crt'])
  })

  it('tell no flags of a kubelet from flags that could not be read', async () => {
    const { facts } = await lookAt({}, () => ({ exitCode: 127 }))
    expect(facts.kubeletFlags).toEqual([])
    const odd = await lookAt({}, () => ({ exitCode: 127 }), '/etc/default/kubelet')
    expect(odd.facts.kubeletFlags).toBeUndefined()
    expect(odd.log.lines.map(({ fields }) => fields.fact)).toContain('kubelet flags')
  })

  it('do not claim that no reboot is needed where that could not be asked', async () => {
    const { facts } = await lookAt({ '/usr/bin/dnf': '' }, (program) =>
      program === 'needs-restarting' ? new SlipwayError('CommandTimedOut', 'it did not end') : { exitCode: 127 },
    )
    expect(facts.rebootRequired).toBeUndefined()
    expect(facts.rebootUnknown).toContain('failed')
  })
})

const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
/** Made with openssl; it ends ten years after it was. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBPjCB8aADAgECAhRu1e71PRT4vWMQsdWhDgbiJi2tmTAFBgMrZXAwFTETMBEG
A1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMTUwOTAxMzZaFw0zNjExMTIwOTAxMzZa
MBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwKjAFBgMrZXADIQCifEKLMl6dRLepgyJ/
tkzOxaXJkunDNT6AD1kjS4uCgKNTMFEwHQYDVR0OBBYEFNBqv8ojvURzRb13ZO2a
oJt9CxGWMB8GA1UdIwQYMBaAFNBqv8ojvURzRb13ZO2aoJt9CxGWMA8GA1UdEwEB
/wQFMAMBAf8wBQYDK2VwA0EAgwktuMMu9RTftsRmM04fJ5F5ftGJhKLo6QxagX+l
9UWIPG4maLe9KsOQg0CRDSQcBS0ExwPwGOHsyIhtrBqNAA==
-----END CERTIFICATE-----
`

const leafEnd = '2027-09-15T14:02:09.000Z'
const leaf = `-----BEGIN CERTIFICATE-----
MIHVMIGIAgECMAUGAytlcDAVMRMwEQYDVQQDDAprdWJlcm5ldGVzMB4XDTI2MTEx
OTE0MDIwOVoXDTI3MDkxNTE0MDIwOVowGTEXMBUGA1UEAwwOa3ViZS1hcGlzZXJ2
ZXIwKjAFBgMrZXADIQA/+V2K/7pdeiw2TK+kx3+JWVznO4r9KvnZb1XMFjow4TAF
BgMrZXADQQBESlGU9s+dRKbtrf9bKRuT9UOHslbSX9lQAp5Jwu8WiXQ47t1G9R0C
neer7f4Jc8WiY0veLIQnwsVkT6jaiNoL
-----END CERTIFICATE-----
`
