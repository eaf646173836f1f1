import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import { upgradeControlPlane, upgradeWorker } from './upgrade-step.ts'

const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd']
const imageOf = (component: string, version: string) =>
  `registry.k8s.io/${component}:${component === 'etcd' ? '3.6.8-0' : version}`
const manifest = (component: string, version: string) => `apiVersion: v1
kind: Pod
spec:
  containers:
  - command: [${component}, --advertise-address=10.77.1.11]
    image: ${imageOf(component, version)}
`
const record = (version: string) =>
  JSON.stringify({ data: { ClusterConfiguration: `kind: ClusterConfiguration\nkubernetesVersion: ${version}\n` } })
const pods = (version: string, ready = true) =>
  JSON.stringify({
    items: components.map((component) => ({
      metadata: { labels: { component, tier: 'control-plane' } },
      spec: { containers: [{ image: imageOf(component, version) }] },
      status: { containerStatuses: [{ ready }] },
    })),
  })
const openNode = (name: string) => ({
  metadata: { name },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})
const nodes = (...names: readonly string[]) => JSON.stringify({ items: names.map(openNode) })
const step = upgradeControlPlane(() => Promise.resolve('/usr/bin/kubeadm'))
const controlPlane = (part: Partial<Order> = {}) => kubernetesOrder({ role: 'ControlPlane', ...part })

async function bench(version: string, order = controlPlane()): Promise<StepBench> {
  const made = new StepBench(order)
  for (const component of components) {
    await made.put(`/etc/kubernetes/manifests/${component}.yaml`, manifest(component, version))
  }
  return made
}

describe('what is run on a control-plane node', () => {
  it('applies while the cluster’s record is older', async () => {
    const { context, signal, ...made } = await prepared('v1.35.4', nodes('node2'))
    const [shell, , , , ...args] = await step.argv(context, signal)
    expect([shell, args]).toEqual(['/bin/sh', ['/usr/bin/kubeadm', 'v1.36.3']])
    expect(made.warnings).toEqual([])
  })

  it('upgrades the node alone when another one has applied', async () => {
    const { context, signal } = await prepared('v1.36.3', nodes('node2'))
    expect(await step.argv(context, signal)).toEqual(['/usr/bin/kubeadm', 'upgrade', 'node'])
  })

  it('applies again what was cut off after the record had changed', async () => {
    const made = await prepared('v1.35.4', nodes('node2'))
    await step.argv(made.context, made.signal)
    made.answers({ 'kubeadm-config': record('v1.36.3'), '/api/v1/nodes?': nodes('node2') })
    expect(await step.argv(made.context, made.signal)).toContain('v1.36.3')
  })

  it('is not done by looks alone once it was begun: the add-ons come last', async () => {
    const done = await bench('v1.36.3')
    done.answers({
      'kubeadm-config': record('v1.36.3'),
      '/api/v1/nodes?': nodes('node2'),
      '/pods?': pods('v1.36.3'),
      '/version': JSON.stringify({ gitVersion: 'v1.36.3' }),
    })
    expect(await step.holds?.(done.context, done.signal)).toBe(true)
    await step.argv(done.context, done.signal)
    expect(await step.holds?.(done.context, done.signal)).toBe(false)
  })

  it('ignores CreateJob where its pod could run nowhere, and says so', async () => {
    const made = await prepared('v1.35.4', nodes())
    expect((await step.argv(made.context, made.signal)).at(-1)).toBe('--ignore-preflight-errors=CreateJob')
    expect(made.warnings).toEqual([expect.stringContaining('CreateJob')])
  })

  it('waits for an API that is away', async () => {
    const made = await bench('v1.35.4')
    let asked = 0
    made.answers({
      'kubeadm-config': () => (++asked < 4 ? { exitCode: 1, stderr: 'connection refused' } : record('v1.36.3')),
    })
    expect(await step.argv(made.context, made.signal)).toContain('node')
    expect(made.ran.filter((words) => words.startsWith('sleep'))).toHaveLength(3)
  })

  it('puts back manifests that were lost in the middle', async () => {
    const made = await prepared('v1.35.4', nodes('node2'))
    await step.argv(made.context, made.signal)
    await made.host.files.remove('/etc/kubernetes/manifests/etcd.yaml')
    await made.put('/etc/kubernetes/manifests/kube-apiserver.yaml', '')
    for (const [folder, version] of [
      ['2025-01-01-00-00-00', 'v1.34.0'],
      ['2026-01-01-00-00-00', 'v1.35.4'],
    ] as const) {
      for (const component of components) {
        await made.put(
          `/etc/kubernetes/tmp/kubeadm-backup-manifests-${folder}/${component}.yaml`,
          manifest(component, version),
        )
      }
    }
    await step.argv(made.context, made.signal)
    expect(await made.host.files.read('/etc/kubernetes/manifests/etcd.yaml')).toBe(manifest('etcd', 'v1.35.4'))
    expect(await made.host.files.read('/etc/kubernetes/manifests/kube-apiserver.yaml')).toContain('v1.35.4')
    expect(made.warnings).toHaveLength(2)
  })

  async function prepared(recorded: string, open: string): Promise<StepBench> {
    const made = await bench('v1.35.4')
    made.answers({ 'kubeadm-config': record(recorded), '/api/v1/nodes?': open })
    return made
  }
})

describe('what proves it', () => {
  const answers = (part: Record<string, string>) => ({
    'kubeadm-config': record('v1.36.3'),
    '/pods?': pods('v1.36.3'),
    '/version': JSON.stringify({ gitVersion: 'v1.36.3' }),
    sleep: '',
    ...part,
  })
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['all there', 'v1.36.3', {}, undefined],
    ['old manifests', 'v1.35.4', {}, 'names registry.k8s.io/kube-apiserver:v1.35.4'],
    ['old pods', 'v1.36.3', { '/pods?': pods('v1.35.4') }, 'kube-apiserver as registry.k8s.io/kube-apiserver:v1.35.4'],
    ['not ready', 'v1.36.3', { '/pods?': pods('v1.36.3', false) }, 'is not ready'],
    ['an API server that is older', 'v1.36.3', { '/version': '{"gitVersion":"v1.35.4"}' }, 'says it is v1.35.4'],
    ['no pods', 'v1.36.3', { '/pods?': '{"items":[]}' }, 'as nothing'],
  ])('%s', async (_, version, part, missing) => {
    const made = await bench(version)
    made.answers(answers(part))
    const found = await step.missing?.(made.context, made.signal)
    if (missing === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(missing)
    expect(await step.holds?.(made.context, made.signal)).toBe(missing === undefined)
  })

  it('is not taken for done while the cluster’s record is older', async () => {
    const made = await bench('v1.36.3')
    made.answers(answers({ 'kubeadm-config': record('v1.35.4') }))
    expect(await step.holds?.(made.context, made.signal)).toBe(false)
  })
})

describe('a worker', () => {
  const worker = upgradeWorker(() => Promise.resolve('kubeadm'))
  it('runs upgrade node with the order’s options', async () => {
    const options = { ignorePreflightErrors: ['Swap'], patches: '/etc/patches' }
    const made = new StepBench(kubernetesOrder({ work: { kubernetes: { version: 'v1.36.3', kubeadm: options } } }))
    expect(await worker.argv(made.context, made.signal)).toEqual([
      'kubeadm',
      'upgrade',
      'node',
      '--ignore-preflight-errors=Swap',
      '--patches=/etc/patches',
    ])
  })
  it.each([
    ['Kubernetes v1.36.3\n', true],
    ['Kubernetes v1.35.4\n', false],
  ])('with %s on the disk it is done: %s', async (version, done) => {
    const made = new StepBench(kubernetesOrder())
    made.answers({ 'kubelet --version': version })
    expect(await worker.holds?.(made.context, made.signal)).toBe(done)
  })
})
