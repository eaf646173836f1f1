import { kubeletDriver } from '../../../src/agent/drivers/kubelet/kubelet-driver.ts'
import { nodeTemplate, trustPackages } from '../../bed/node-template.ts'
import { untilTrue } from '../../bed/until-true.ts'
import { kubernetesVersion, olderKubernetesVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'

// A kubelet without a cluster runs static pods alone, and is otherwise the same.
const standalone = `[Service]
ExecStart=
ExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS
`
const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {webhook: {enabled: false}, anonymous: {enabled: true}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
failCgroupV1: false
failSwapOn: false
`

export const conformanceCase: ConformanceCase = {
  name: 'kubelet',
  tool: { name: 'kubelet', version: ['kubelet', '--version'] },
  driver: kubeletDriver,
  setUp: async (bed) => {
    const machine = await bed.machine(await nodeTemplate(bed, olderKubernetesVersion))
    await trustPackages(bed, machine, olderKubernetesVersion)
    await machine.writeFile('/var/lib/kubelet/config.yaml', config)
    await machine.writeFile('/etc/systemd/system/kubelet.service.d/20-standalone.conf', standalone)
    await machine.run(['systemctl', 'daemon-reload'])
    await machine.run(['systemctl', 'restart', 'kubelet'])
    return machine
  },
  order: () => Promise.resolve({ work: { kubernetes: { version: kubernetesVersion, components: ['kubelet'] } } }),
  isDone: async (machine) => {
    let said = ''
    // After a boot it may have been faster than the container runtime: then it has ended, and comes again in ten seconds.
    await untilTrue('a kubelet that runs', async () => {
      const pid = (await machine.run(['systemctl', 'show', '--property=MainPID', '--value', 'kubelet'])).trim()
      said = (await machine.exec([`/proc/${pid}/exe`, '--version'])).stdout
      return said !== ''
    })
    return said === `Kubernetes ${kubernetesVersion}\n`
  },
  check: async (machine) => {
    const audit = await machine.run(['dpkg', '--audit'])
    if (audit !== '') throw new Error(audit)
  },
}
