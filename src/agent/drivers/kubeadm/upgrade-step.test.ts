import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { components, manifest, pods, record } from '../../../../test/agent/pretend-static-pods.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import { lostManifests } from './lost-manifests.ts'
import { upgradeRecord, upgradeRecordFile } from './upgrade-record.ts'
import { upgradeControlPlane, upgradeWorker } from './upgrade-step.ts'

const openNode = (name: string) => ({
  metadata: { name },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})
const nodes = (...names: readonly string[]) => JSON.stringify({ items: names.map(openNode) })
const stateDir = '/var/lib/slipway'
const { nodeUID } = kubernetesOrder()
const upgrades = upgradeRecord(stateDir)
const step = upgradeControlPlane({
  kubeadm: () => Promise.resolve('/usr/bin/kubeadm'),
  record: upgrades,
  restoreManifests: lostManifests(upgrades, stateDir),
})
const controlPlane = (part: Partial<Order> = {}) => kubernetesOrder({ role: 'ControlPlane', ...part })

async function bench(version: string, order = controlPlane()): Promise<StepBench> {
  const made = new StepBench(order)
  await made.host.disk.makeFolder(stateDir)
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
    const done = await atTarget()
    expect(await step.holds?.(done.context, done.signal)).toBe(true)
    await step.argv(done.context, done.signal)
    expect(await step.holds?.(done.context, done.signal)).toBe(false)
    await step.afterwards?.(done.context, done.signal)
    expect(await step.holds?.(done.context, done.signal)).toBe(true)
    expect(done.ran).toContain('sync -f /etc/kubernetes/manifests')
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

  describe('of an earlier order that failed', () => {
    it.each(['apply', 'node'] as const)('is done again: %s', async (mode) => {
      const made = await atTarget()
      await upgrades.begin(made.host.disk, { version: 'v1.36.3', mode, nodeUID, backups: [] })
      expect(await step.holds?.(made.context, made.signal)).toBe(false)
      expect(await step.argv(made.context, made.signal)).toContain(mode === 'apply' ? 'v1.36.3' : 'node')
      // Written anew, it is still what was begun.
      expect(await upgrades.find(made.context)).toEqual({ version: 'v1.36.3', mode, nodeUID, backups: [] })
    })

    it('is done as the cluster’s record asks for where it was for another version', async () => {
      const made = await atTarget()
      await upgrades.begin(made.host.disk, { version: 'v1.36.2', mode: 'apply', nodeUID, backups: [] })
      expect(await step.argv(made.context, made.signal)).toContain('node')
      expect(await upgrades.find(made.context)).toEqual({ version: 'v1.36.3', mode: 'node', nodeUID, backups: [] })
    })

    it('is none of this node’s where the host was another one then', async () => {
      const made = await atTarget()
      await upgrades.begin(made.host.disk, { version: 'v1.36.3', mode: 'apply', nodeUID: 'another', backups: [] })
      expect(await step.argv(made.context, made.signal)).toContain('node')
      expect(await upgrades.find(made.context)).toMatchObject({ mode: 'node', nodeUID })
    })

    it.each([
      ['', 'is damaged or half-written'],
      [JSON.stringify({ format: 99, sha256: '', content: {} }), 'newer version of the agent'],
    ])('is no guess where its record is %j', async (text, says) => {
      const made = await atTarget()
      await made.host.disk.write(`${stateDir}/${upgradeRecordFile}`, text)
      const refusal = { code: 'JournalCorrupt', message: expect.stringContaining(says) }
      await expect(step.holds?.(made.context, made.signal)).rejects.toMatchObject(refusal)
      await expect(step.argv(made.context, made.signal)).rejects.toMatchObject(refusal)
    })
  })

  it('is taken over from an agent that noted it in the order', async () => {
    const made = await atTarget()
    await made.context.notes.write('kubeadm-upgrade', { mode: 'apply' })
    expect(await step.holds?.(made.context, made.signal)).toBe(false)
    expect(await step.argv(made.context, made.signal)).toContain('v1.36.3')
  })

  async function atTarget(): Promise<StepBench> {
    const made = await bench('v1.36.3')
    made.answers({
      'kubeadm-config': record('v1.36.3'),
      '/api/v1/nodes?': nodes('node2'),
      '/pods?': pods('v1.36.3'),
      '/version': JSON.stringify({ gitVersion: 'v1.36.3' }),
      sync: '',
    })
    return made
  }

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
