// The agent as a service of its host: no pod, the kubelet's own credentials, the unit that `slipway install --print-unit` writes.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { execute } from '../bed/execute.ts'
import type { Machine } from '../bed/machine.ts'
import type { SlipwayInCluster } from './slipway-in-cluster.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const namespace = 'slipway-system'
const folder = '/opt/slipway'
const unit = 'slipway-agent.service'
const trace = '/var/lib/done-by-host-service'
const script = `#!/bin/sh\ncat /proc/self/cgroup > ${trace}\n`

export function hostServiceStory(stage: () => SlipwayInCluster): void {
  test('an agent that is a service of its host works and comes back from a reboot', { timeout: 420_000 }, async () => {
    const slipway = stage()
    const { cluster } = slipway
    const worker = cluster.workers.at(-1)
    if (!worker) throw new Error('a cluster with workers was asked for')
    await cluster.kubectl(['delete', 'daemonset', '-n', namespace, 'slipway-agent'])
    await cluster.kubectl(['apply', '--server-side', '-f', '-'], await printed(['--print', '--host-service']))
    await installAgent(worker)
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
    expect(await worker.run(['systemctl', 'is-active', unit])).toBe('active\n')
    // The script ran in a unit of the host, beside the agent and not inside a pod.
    expect(await worker.readFile(trace)).toMatch(/slipway-.*\.service/)
    const pods = await cluster.kubectl(['get', 'pods', '-n', namespace, '-l', 'app.kubernetes.io/component=agent'])
    expect(pods).toBe('')
  })
}

async function installAgent(machine: Machine): Promise<void> {
  const dist = join(project, 'dist')
  const parts = (await readdir(dist)).filter((name) => name.endsWith('.mjs'))
  for (const name of parts) await machine.writeFile(`${folder}/${name}`, await readFile(join(dist, name)))
  await machine.writeFile(`${folder}/node`, await readFile(process.execPath), 0o755)
  await machine.writeFile(`/etc/systemd/system/${unit}`, await printed(['--print-unit']))
  await machine.run(['systemctl', 'daemon-reload'])
  await machine.run(['systemctl', 'enable', '--now', unit])
}

async function printed(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await execute([join(project, 'slipway'), 'install', ...args])
  if (code !== 0) throw new Error(`slipway install ${args.join(' ')}: ${stderr}`)
  return stdout
}
