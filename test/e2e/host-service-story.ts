// The agent as a service of its host: no pod, the kubelet's own credentials, the bundle for hosts without a container.

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { agentService, installHostBundle } from './host-bundle.ts'
import type { SlipwayInCluster } from './slipway-in-cluster.ts'

const namespace = 'slipway-system'
const trace = '/var/lib/done-by-host-service'
const script = `#!/bin/sh\ncat /proc/self/cgroup > ${trace}\n`

export function hostServiceStory(stage: () => SlipwayInCluster): void {
  test('an agent that is a service of its host works and comes back from a reboot', { timeout: 420_000 }, async () => {
    const slipway = stage()
    const { cluster } = slipway
    const worker = cluster.workers.at(-1)
    if (!worker) throw new Error('a cluster with workers was asked for')
    await slipway.change('agent.hostService=true')
    expect(await installHostBundle(worker)).toContain(`installed Slipway ${packageJson.version} in /opt/slipway`)
    await cluster.kubectl(['create', 'configmap', '-n', namespace, 'trace', `--from-literal=script=${script}`])

    const boot = await worker.bootId()
    const update = await slipway.update(
      'by-host-service',
      {
        script: { configMap: 'trace', sha256: createHash('sha256').update(script).digest('hex') },
        reboot: 'Always',
        nodeSelector: { matchLabels: { 'kubernetes.io/hostname': worker.name } },
      },
      300_000,
    )

    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    expect(await worker.bootId()).not.toBe(boot)
    expect(await worker.run(['systemctl', 'is-active', agentService])).toBe('active\n')
    // The script ran in a unit of the host, beside the agent and not inside a pod.
    expect(await worker.readFile(trace)).toMatch(/slipway-.*\.service/)
    const component = 'app.kubernetes.io/component=agent'
    await expect.poll(() => cluster.kubectl(['get', 'pods', '-n', namespace, '-l', component])).toBe('')
  })
}
