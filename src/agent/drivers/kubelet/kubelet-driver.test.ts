import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import type { ActStep, Step } from '../driver.ts'
import { kubeletDriver } from './kubelet-driver.ts'

const flagsFile = '/var/lib/kubelet/kubeadm-flags.env'
const before = 'KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.1 --pod-infra-container-image=registry.k8s.io/pause:3.10"\n'
const after = 'KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.1"\n'
const withImage: Partial<Order> = { work: { kubernetes: { version: 'v1.36.3' }, os: { image: 'registry/os:2' } } }
const stepNamed = (name: string, steps: readonly Step[]): Step => {
  const found = steps.find((step) => step.name === name)
  if (!found) throw new Error(`no step ${name}`)
  return found
}

describe('steps', () => {
  it.each([
    ['packages', kubernetesOrder(), ['drop-removed-flags', 'install-kubelet', 'restart-kubelet']],
    ['an image brings it', kubernetesOrder(withImage), ['drop-removed-flags']],
  ])('%s', (_, order, names) => expect(kubeletDriver.steps(order).map(({ name }) => name)).toEqual(names))
})

describe('flags the target version removed', () => {
  const drop = stepNamed('drop-removed-flags', kubeletDriver.steps(kubernetesOrder())) as ActStep
  const undo = kubeletDriver.undo.possible ? kubeletDriver.undo.steps(kubernetesOrder(withImage)) : []

  it('are taken out once, and put back by undo', async () => {
    const made = new StepBench(kubernetesOrder())
    await made.put(flagsFile, before)
    expect(await drop.holds?.(made.context, made.signal)).toBe(false)
    await drop.act(made.context, made.signal)
    expect(await made.host.files.read(flagsFile)).toBe(after)
    expect(await drop.holds?.(made.context, made.signal)).toBe(true)
    await drop.act(made.context, made.signal)
    await (stepNamed('restore-kubelet-flags', undo) as ActStep).act(made.context, made.signal)
    expect(await made.host.files.read(flagsFile)).toBe(before)
  })

  it('need no file to be gone', async () => {
    const made = new StepBench(kubernetesOrder())
    expect(await drop.holds?.(made.context, made.signal)).toBe(true)
  })

  it.each(['/etc/default/kubelet', '/etc/sysconfig/kubelet', '/etc/systemd/system/kubelet.service.d/20-site.conf'])(
    'in %s stop the order before anything is touched',
    async (path) => {
      const made = new StepBench(kubernetesOrder(withImage))
      expect(await kubeletDriver.stage?.(made.context, made.signal)).toBeUndefined()
      await made.put(path, 'KUBELET_EXTRA_ARGS=--cloud-config=/etc/cloud.conf\n')
      const reason = await kubeletDriver.stage?.(made.context, made.signal)
      expect(reason?.code).toBe('KubeletFlagRemoved')
      expect(reason?.message).toContain(`${path} gives the kubelet --cloud-config`)
    },
  )
})

describe('the restart', () => {
  const restart = stepNamed('restart-kubelet', kubeletDriver.steps(kubernetesOrder()))
  const unit = (state: string, pid: number) => `MainPID=${pid}\nActiveState=${state}\n`

  it.each([
    ['the new one runs, as after a reboot', unit('active', 7), 'Kubernetes v1.36.3\n', undefined],
    [
      'the old one still runs',
      unit('active', 7),
      'Kubernetes v1.35.4\n',
      'the running kubelet is v1.35.4, not v1.36.3',
    ],
    ['it starts again and again', unit('activating', 0), '', 'kubelet.service is activating'],
    ['there is no such unit', unit('inactive', 0), '', 'kubelet.service is inactive'],
  ])('%s', async (_, show, version, missing) => {
    const made = new StepBench(kubernetesOrder())
    made.answers({ 'systemctl show': show, '/proc/7/exe --version': version })
    expect(await restart.missing?.(made.context, made.signal)).toBe(missing)
    expect(await restart.holds?.(made.context, made.signal)).toBe(missing === undefined)
  })

  it('is disruptive and reported', () => expect(restart).toMatchObject({ disruptive: true, restartsKubelet: true }))
})
