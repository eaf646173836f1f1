import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import { judgePull } from '../runtime/image-store.ts'
import { stageControlPlaneImages } from './stage-images.ts'

// `kubeadm config images list --config … -o json` of 1.36.3, shortened.
const wanted = JSON.stringify({
  kind: 'Images',
  apiVersion: 'output.kubeadm.k8s.io/v1alpha3',
  images: ['registry.k8s.io/kube-apiserver:v1.36.3', 'registry.k8s.io/pause:3.10.2'],
})
// `crictl images -o json`, shortened; an image without a tag has an empty list.
const present = (...tags: readonly string[]) =>
  JSON.stringify({
    images: [
      { id: 'sha256:1', repoTags: tags, repoDigests: [] },
      { id: 'sha256:2', repoTags: [] },
    ],
  })
const record = JSON.stringify({
  data: { ClusterConfiguration: 'kind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n' },
})
const both = ['registry.k8s.io/kube-apiserver:v1.36.3', 'registry.k8s.io/pause:3.10.2']
const notFound =
  'failed to pull and unpack image "registry.k8s.io/pause:3.10.2": failed to resolve reference: registry.k8s.io/pause:3.10.2: not found'
const away =
  'failed to do request: Head "https://registry.k8s.io/v2/pause/manifests/3.10.2": dial tcp: connection refused'
const controlPlane = (part: Partial<Order> = {}) => kubernetesOrder({ role: 'ControlPlane', ...part })

function bench(part: Parameters<StepBench['answers']>[0], order = controlPlane()): StepBench {
  const made = new StepBench(order)
  made.answers({
    'crictl --version': 'crictl version v1.36.0',
    'kubeadm-config': record,
    'images list': wanted,
    ...part,
  })
  return made
}

describe('the control plane’s images', () => {
  it('are not fetched when they are there', async () => {
    const made = bench({ 'crictl images': present(...both) })
    expect(await stageControlPlaneImages(made.context, made.signal)).toBeUndefined()
    expect(made.ran.join('\n')).not.toContain('pull')
  })

  it('are asked for with the cluster’s configuration at the target version', async () => {
    const made = bench({ 'crictl images': present(...both) })
    await stageControlPlaneImages(made.context, made.signal)
    const path = `${made.context.stagingFolder}/kubeadm/cluster-configuration.yaml`
    expect(await made.host.files.read(path)).toContain('kubernetesVersion: v1.36.3')
    // Up to 1.30 the long form of -o is another one.
    expect(made.ran).toContain(`kubeadm config images list --config=${path} -o json`)
  })

  it('are pulled where they are missing, through the kubelet’s own runtime', async () => {
    const made = bench({ images: present(both[0] ?? ''), pull: '' })
    await made.put('/var/lib/kubelet/instance-config.yaml', 'containerRuntimeEndpoint: "unix:///run/crio/crio.sock"\n')
    expect(await stageControlPlaneImages(made.context, made.signal)).toBeUndefined()
    const endpoint = 'unix:///run/crio/crio.sock'
    expect(made.ran.at(-1)).toContain(
      ` crictl --runtime-endpoint=${endpoint} --image-endpoint=${endpoint} pull registry.k8s.io/pause:3.10.2`,
    )
  })

  it('that no registry has are a reason', async () => {
    const made = bench({ 'crictl images': present(), pull: { exitCode: 1, stderr: notFound } })
    expect((await stageControlPlaneImages(made.context, made.signal))?.code).toBe('ImageMissing')
  })

  it('are tried again while the registry is away', async () => {
    const made = bench({ 'crictl images': present(), pull: { exitCode: 1, stderr: away } })
    await expect(stageControlPlaneImages(made.context, made.signal)).rejects.toMatchObject({ code: 'StagingFailed' })
  })

  it('come from the bundle alone where the order has one', async () => {
    const bundle = { url: '/srv/bundle.tar', sha256: 'a'.repeat(64) }
    const order = controlPlane({ work: { bundle, kubernetes: { version: 'v1.36.3' } } })
    let loaded = false
    const made = bench(
      {
        'crictl images': () => present(...(loaded ? both : [])),
        'images import': () => {
          loaded = true
          return ''
        },
      },
      order,
    )
    expect((await stageControlPlaneImages(made.context, made.signal))?.message).toContain('the bundle does not hold')
    await made.put(`${made.context.stagingFolder}/bundle/images/all.tar`, 'tar')
    expect(await stageControlPlaneImages(made.context, made.signal)).toBeUndefined()
    expect(made.ran.join('\n')).not.toContain('pull')
  })

  it('are left to kubeadm where the new one may not be run from the staging folder', async () => {
    const made = bench({ 'kubeadm version': { exitCode: 126, stderr: 'Permission denied' } })
    expect(await stageControlPlaneImages(made.context, made.signal)).toBeUndefined()
    expect(made.warnings.join()).toContain('noexec')
  })

  it('are left to kubeadm where no tool can list them', async () => {
    const made = new StepBench(controlPlane())
    made.answers({})
    expect(await stageControlPlaneImages(made.context, made.signal)).toBeUndefined()
    expect(made.warnings).toHaveLength(1)
  })
})

describe('a failed pull', () => {
  it.each([
    [notFound, 'ImageMissing'],
    ['pull access denied, repository does not exist or may require authorization', 'ImageMissing'],
    ['failed to copy: write /var/lib/containerd/x: no space left on device', 'DiskTooFull'],
    [away, 'MayPass'],
    ['dial tcp: lookup registry.k8s.io: no such host', 'MayPass'],
  ])('%s: %s', (output, because) => {
    expect(judgePull('a', { exitCode: 1, output })).toMatchObject({ pulled: false, because })
  })
})
