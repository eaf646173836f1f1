// A NodeProfile on a whole cluster: applied, kept true, and gone without a trace.

import { readFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { type NodeProfile, nodeProfiles } from '../../src/api/node-profile.ts'
import type { Bed } from '../bed/bed.ts'
import type { DebPackage } from '../bed/deb-package.ts'
import type { Machine } from '../bed/machine.ts'
import { signingKey } from '../bed/signing-key.ts'
import type { SlipwayInCluster } from './slipway-in-cluster.ts'

interface Stage {
  readonly bed: Bed
  readonly slipway: SlipwayInCluster
}

const configPath = '/etc/greeting.conf'
const sysctl = 'net.ipv4.tcp_keepalive_time'
const appliedMs = 180_000

const greeting: DebPackage = {
  name: 'greeting',
  version: '1.0',
  files: [
    { path: '/usr/bin/greet', content: '#!/bin/sh\nexec sleep infinity\n', mode: 0o755 },
    {
      path: '/usr/lib/systemd/system/greeting.service',
      content: '[Service]\nExecStart=/usr/bin/greet\n[Install]\nWantedBy=multi-user.target\n',
    },
  ],
}

/** All that the profile could leave behind on a host. */
async function picture(machine: Machine): Promise<string> {
  const script = [
    `cat ${configPath} 2>&1; sysctl -n ${sysctl}; dpkg-query -W greeting 2>&1`,
    'ls /etc/apt/sources.list.d /etc/apt/keyrings /etc/sysctl.d; ls -R /etc/systemd/system',
    'systemctl is-enabled greeting.service 2>&1; systemctl is-active greeting.service',
  ]
  return (await machine.exec(['sh', '-c', script.join('; ')])).stdout
}

export function profileStory(stage: () => Stage): void {
  const before = new Map<string, string>()

  test('a NodeProfile is applied to every host', { timeout: appliedMs + 60_000 }, async () => {
    const { bed, slipway } = stage()
    const { nodes } = slipway.cluster
    for (const node of nodes) before.set(node.name, await picture(node))
    const uri = await bed.publish('extras', [greeting])
    const { armoredPath } = await signingKey('trusted')
    await slipway.create(nodeProfiles, 'base', {
      repositories: [
        { name: 'extras', apt: { uris: [uri], suites: ['/'], signedBy: await readFile(armoredPath, 'utf8') } },
      ],
      packages: [{ name: 'greeting', version: '1.0' }],
      files: [{ path: configPath, content: 'hello\n', mode: '0640', restarts: ['greeting.service'] }],
      units: [{ name: 'greeting.service', enabled: true, state: 'Running' }],
      sysctls: { [sysctl]: '4321' },
      strategy: { maxUnavailable: 3 },
    })
    await slipway.until('the profile is applied', appliedMs, async () => {
      const { status } = await slipway.get<NodeProfile>(nodeProfiles, 'base')
      return status?.nodes?.applied === nodes.length && status.phase === 'Applied'
    })
    for (const node of nodes) {
      expect(await node.readFile(configPath)).toBe('hello\n')
      expect(await node.run(['stat', '-c', '%a %U', configPath])).toBe('640 root\n')
      expect(await node.run(['sysctl', '-n', sysctl])).toBe('4321\n')
      expect(await node.run(['systemctl', 'is-active', 'greeting.service'])).toBe('active\n')
      expect(await node.run(['systemctl', 'is-enabled', 'greeting.service'])).toBe('enabled\n')
    }
  })

  test('what drifts is put right', { timeout: 240_000 }, async () => {
    const [, worker] = stage().slipway.cluster.nodes
    if (!worker) throw new Error('a cluster with workers was asked for')
    await worker.writeFile(configPath, 'meddled\n')
    await expect.poll(() => worker.readFile(configPath), { timeout: 60_000 }).toBe('hello\n')
    // The agent restarts the unit once its file is right again; a stop that meets that is cancelled by systemd.
    await vi.waitFor(() => worker.run(['systemctl', 'stop', 'greeting.service']), { timeout: 60_000, interval: 500 })
    await worker.exec(['rm', configPath])
    await expect.poll(() => worker.readFile(configPath).catch(() => 'gone'), { timeout: 60_000 }).toBe('hello\n')
  })

  test('without the profile the hosts are as they were', { timeout: appliedMs + 60_000 }, async () => {
    const { slipway } = stage()
    await slipway.cluster.kubectl(['delete', 'nodeprofiles.slipway.dev', 'base', '--timeout=180s'])
    for (const node of slipway.cluster.nodes) expect(await picture(node)).toBe(before.get(node.name))
  })
}
