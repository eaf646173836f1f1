import { describe, expect, it } from 'vitest'
import { atVersion, canTakeCheckJob, clusterVersion, upgradeMode, upgradeOptions } from './kubeadm-upgrade.ts'

// As kubeadm 1.35.4 keeps it in kube-system/kubeadm-config.
const recorded = `apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
certificatesDir: /etc/kubernetes/pki
clusterName: bed
controlPlaneEndpoint: 10.77.1.1:6443
dns:
  disabled: true
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
networking:
  podSubnet: 10.88.0.0/16
`

describe('which upgrade a control-plane node makes', () => {
  it.each([
    ['v1.35.4', 'v1.36.3', 'apply'],
    ['v1.36.2', 'v1.36.3', 'apply'],
    ['v1.36.3-rc.1', 'v1.36.3', 'apply'],
    ['v1.36.3', 'v1.36.3', 'node'],
    ['v1.36.4', 'v1.36.3', 'node'],
  ])('record %s, target %s: %s', (record, target, mode) => expect(upgradeMode(record, target)).toBe(mode))
})

describe('the cluster’s record', () => {
  it('names its version', () => expect(clusterVersion(recorded)).toBe('v1.35.4'))
  it.each(['', 'kind: ClusterStatus', '{{', '- a'])('is not guessed from %j', (text) => {
    expect(clusterVersion(text)).toBeUndefined()
  })
  it('is written for another version with all else kept', () => {
    expect(atVersion(recorded, 'v1.36.3')).toBe(recorded.replace('v1.35.4', 'v1.36.3'))
  })
})

describe('options', () => {
  it.each([
    [{}, [], []],
    [{}, ['CreateJob'], ['--ignore-preflight-errors=CreateJob']],
    [{ ignorePreflightErrors: ['Swap', 'CreateJob'] }, ['CreateJob'], ['--ignore-preflight-errors=Swap,CreateJob']],
    [
      { patches: '/etc/patches', certificateRenewal: false },
      [],
      ['--patches=/etc/patches', '--certificate-renewal=false'],
    ],
  ])('%j and %j', (options, ignored, expected) => expect(upgradeOptions(options, ignored)).toEqual(expected))
})

describe('where kubeadm’s test pod can run', () => {
  const node = (spec: object, ready = 'True') => ({
    metadata: { name: 'n' },
    spec,
    status: { conditions: [{ type: 'Ready', status: ready }] },
  })
  const taint = (key: string, effect: string) => ({ taints: [{ key, effect }] })
  it.each([
    ['no node at all', [], false],
    ['a free worker', [node({})], true],
    ['cordoned', [node({ unschedulable: true })], false],
    ['not ready', [node({}, 'Unknown')], false],
    ['the control plane’s taint', [node(taint('node-role.kubernetes.io/control-plane', 'NoSchedule'))], true],
    ['another taint', [node(taint('dedicated', 'NoExecute'))], false],
    ['a soft taint', [node(taint('dedicated', 'PreferNoSchedule'))], true],
    ['one of two', [node({ unschedulable: true }), node({})], true],
  ])('%s', (_, items, expected) => expect(canTakeCheckJob({ items })).toBe(expected))
})
