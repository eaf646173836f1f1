// What was fetched and checked while the node still worked is enough: a node that was drained meanwhile waits for no repository.

import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../test/agent/agent-bench.ts'
import { RecordedEtcd } from '../../../test/agent/recorded-etcd.ts'
import { StepBench } from '../../../test/agent/step-bench.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import type { Component } from '../../api/work.ts'
import type { Driver } from './driver.ts'
import { etcdDriver } from './etcd/etcd-driver.ts'
import { kubectlDriver } from './kubectl/kubectl-driver.ts'
import { kubeletDriver } from './kubelet/kubelet-driver.ts'
import { runtimeDriver } from './runtime/runtime-driver.ts'

const etcd = etcdDriver(new RecordedEtcd([{ id: '13668033151171901709', name: 'a', url: 'http://127.0.0.1:23791' }]))

describe('a driver whose packages are staged', () => {
  it.each<[Component, Driver, string, string]>([
    ['kubelet', kubeletDriver, 'kubelet', 'kubelet-packages'],
    ['kubectl', kubectlDriver, 'kubectl', 'kubectl-packages'],
    ['containerd', runtimeDriver, 'containerd', 'runtime-packages'],
    ['etcd', etcd, 'etcd-server', 'etcd-packages'],
  ])('%s asks no repository again', async (component, driver, name, note) => {
    const bench = new StepBench(
      kubernetesOrder({ work: { kubernetes: { version: 'v1.36.3', components: [component] } } }),
    )
    bench.answers({
      'apt-get': { exitCode: 100, stderr: 'E: Failed to fetch' },
      'dpkg-query': `${name}\t1.0-1\tamd64\tinstall\tok\tinstalled\n`,
      'print-architecture': 'amd64\n',
      'systemctl show':
        'LoadState=loaded\nEnvironmentFiles=/etc/default/etcd (ignore_errors=yes)\nEnvironment=\nExecStart={ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd ; ignore_errors=no ; pid=1 }\n',
      'etcd --version': 'etcd Version: 3.6.8\n',
      'apt-mark': '',
    })
    for (const path of ['/usr/bin/apt-get', '/var/lib/dpkg/status']) await bench.put(path, '')
    await bench.put('/etc/default/etcd', 'ETCD_ADVERTISE_CLIENT_URLS=http://127.0.0.1:23791\n')
    await bench.put(
      '/var/lib/kubelet/kubeadm-flags.env',
      'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock"\n',
    )
    const staged: StagedPackages = {
      manager: 'apt',
      folder: '/staged',
      packages: [
        {
          name,
          architecture: 'amd64',
          version: '1.36.3-1.1',
          previous: '1.0-1',
          wanted: true,
          held: false,
          automatic: false,
        },
      ],
      removals: [],
      keptBack: [],
    }
    await bench.context.notes.write(note, staged)
    expect(await driver.stage?.(bench.context, bench.signal)).toBeUndefined()
    expect(bench.ran.filter((words) => words.includes('apt-get'))).toEqual([])
  })
})
