// The agent as a service of its host: no pod, the kubelet's own credentials, the bundle for hosts without a container.

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { agentService, installHostBundle } from './host-bundle.ts'
import type { SlipwayInCluster } from './slipway-in-cluster.ts'

const namespace = 'slipway-system'
const policy = ['patch', 'maintenancepolicies.slipway.dev', 'default', '--type=merge']
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

  test('its command asks for maintenance, waits for the turn, and says that it failed', {
    timeout: 420_000,
  }, async () => {
    const slipway = stage()
    const { cluster } = slipway
    const worker = cluster.workers.at(-1)
    if (!worker) throw new Error('a cluster with workers was asked for')
    const host = (...words: readonly string[]) =>
      worker.exec(['/opt/slipway/slipway', 'host', ...words], { timeoutMs: 240_000 })
    const isCordoned = async () =>
      (await cluster.kubectl(['get', 'node', worker.name, '-o', 'jsonpath={.spec.unschedulable}'])) === 'true'
    const reason = async () => (await slipway.state(worker.name)).status?.agent?.sentinels?.failure?.message
    await cluster.kubectl([...policy, '-p', '{"spec":{"maintenance":{}}}'])
    await slipway.until('the agent knows the two files', 60_000, async () =>
      (await host('status')).stdout.includes('Maintenance:  asked for: no; let in: no'),
    )

    expect((await host('status')).stdout).toContain(`Node:         ${worker.name}\n`)
    const early = await host('finish')
    expect(early).toMatchObject({ code: 3, stderr: expect.stringContaining('no maintenance is asked for') })
    const asked = await host('request', '--wait')
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('the work may begin') })
    expect(await isCordoned()).toBe(true)
    const again = await host('request')
    expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('asked for already') })

    const failed = await host('finish', '--failed', 'disk sdb is dead')
    expect(failed).toMatchObject({ code: 0, stdout: expect.stringContaining('stays cordoned') })
    await expect.poll(reason).toBe('disk sdb is dead')
    expect(await isCordoned()).toBe(true)
    expect(await host('finish')).toMatchObject({ code: 0, stdout: 'maintenance is over; the node goes back to work\n' })
    await slipway.until('the node is back', 60_000, async () => !(await isCordoned()))
    expect(await reason()).toBeUndefined()
  })
}
