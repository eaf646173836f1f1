// Answers of crictl 1.36, as `crictl ps -o json` and its failures print them.

import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { settleControlPlane } from './settle-control-plane.ts'

const manifest = (component: string) =>
  `apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: registry.k8s.io/${component}:v1.36.3\n    name: ${component}\n`
const running = (id: string) =>
  JSON.stringify({ containers: [{ id, metadata: { name: 'kube-apiserver', attempt: 1 }, state: 'CONTAINER_RUNNING' }] })
const noAnswer = {
  exitCode: 1,
  stderr:
    'level=fatal msg="validate service connection: validate CRI v1 runtime API for endpoint \\"unix:///run/containerd/containerd.sock\\": rpc error: code = Unavailable"',
}

async function controlPlane(): Promise<StepBench> {
  const made = new StepBench(kubernetesOrder({ role: 'ControlPlane' }))
  await made.put('/etc/kubernetes/manifests/kube-apiserver.yaml', manifest('kube-apiserver'))
  return made
}

describe('a control plane after its kubelet was restarted', () => {
  it('is waited for until its containers stay, and asked for where the kubelet’s runtime is', async () => {
    const made = await controlPlane()
    await made.put(
      '/var/lib/kubelet/kubeadm-flags.env',
      'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/own/containerd.sock"\n',
    )
    const answers = [running('a'), noAnswer, running('a'), running('b')]
    made.answers({
      'crictl --runtime-endpoint=unix:///run/own/containerd.sock': () => answers.shift() ?? running('c'),
      sleep: '',
    })
    await settleControlPlane.act(made.context, made.signal)
    expect(made.warnings).toEqual([])
    expect(made.ran.filter((words) => words.startsWith('crictl'))).toHaveLength(4 + 16)
  })

  it('is left alone where the runtime does not answer: the upgrade went well', async () => {
    const made = await controlPlane()
    made.answers({ 'crictl --version': 'crictl version v1.36.0', crictl: noAnswer, sleep: '' })
    await settleControlPlane.act(made.context, made.signal)
    expect(made.warnings).toEqual([])
  })

  it('is left alone where there is no crictl', async () => {
    const made = await controlPlane()
    made.answers({ sleep: '' })
    await settleControlPlane.act(made.context, made.signal)
    expect(made.ran.filter((words) => words.startsWith('crictl')).length).toBeLessThan(10)
  })
})
