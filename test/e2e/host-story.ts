// What the agent does and says on its own host, from inside its pod.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { localAnswerSchema, localSocketPath, localStateSchema } from '../../src/api/local-protocol.ts'
import { execute } from '../bed/execute.ts'
import { containerdVersion, kubernetesVersion } from '../bed/versions.ts'
import { unpackHostBundle } from './host-bundle.ts'
import type { SlipwayInCluster } from './slipway-in-cluster.ts'

const program = join(fileURLToPath(new URL('../..', import.meta.url)), 'slipway')

const dropIn = '/etc/systemd/system/containerd.service.d/takes-agent.conf'
const takenPath = '/run/agents-taken'
/** A runtime whose end is that of its containers, as far as the agent is concerned. */
const takesAgentAlong = `[Service]
ExecStopPost=/bin/sh -c 'pgrep -f "slipway[.]mjs agent" >> ${takenPath} && pkill -KILL -f "slipway[.]mjs agent"; true'
`

export function hostStory(stage: () => SlipwayInCluster): void {
  test('containerd is upgraded under the agent’s own pod, and takes it along', { timeout: 600_000 }, async () => {
    const slipway = stage()
    for (const node of slipway.cluster.nodes) {
      await node.writeFile(dropIn, takesAgentAlong)
      await node.run(['systemctl', 'daemon-reload'])
    }
    const update = await slipway.update(
      'runtime',
      { kubernetes: { version: kubernetesVersion, components: ['containerd'] } },
      480_000,
    )
    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    const wanted = `containerd://${containerdVersion.replace(/^v/, '')}`
    await slipway.until('every kubelet has told the new runtime', 60_000, async () => {
      const path = '{range .items[*]}{.status.nodeInfo.containerRuntimeVersion}{" "}{end}'
      const told = await slipway.cluster.kubectl(['get', 'nodes', '-o', `jsonpath=${path}`])
      return told
        .trim()
        .split(' ')
        .every((version) => version === wanted)
    })
    for (const node of slipway.cluster.nodes) {
      expect((await node.readFile(takenPath)).trim()).not.toBe('')
      await node.run(['rm', dropIn, takenPath])
      await node.run(['systemctl', 'daemon-reload'])
    }
  })

  test('the agent answers on its host, to root only', async () => {
    for (const node of stage().cluster.nodes) {
      expect(await node.run(['stat', '-c', '%a %U', localSocketPath])).toBe('600 root\n')
      const said = await node.run(['socat', '-t', '5', '-', `UNIX-CONNECT:${localSocketPath}`], {
        input: '{"ask":"state"}\n',
      })
      const answer = localAnswerSchema.parse(JSON.parse(said.trim().split('\n')[0] ?? ''))
      if (!answer.ok) expect.fail(JSON.stringify(answer))
      expect(localStateSchema.parse(answer.result).node).toBe(node.name)
    }
  })

  test('the command of an unpacked bundle asks an agent that is a pod', async () => {
    const worker = stage().cluster.workers.at(-1)
    if (!worker) throw new Error('a cluster with workers was asked for')
    const folder = await unpackHostBundle(worker)
    expect(await worker.run([`${folder}/slipway`, 'host', 'status'])).toContain(`Node:         ${worker.name}\n`)
    await worker.run(['rm', '-r', folder])
  })

  test('logs of a step can be read from afar, as tail and as a whole', { timeout: 120_000 }, async () => {
    const { cluster } = stage()
    const [first] = cluster.nodes
    for (const more of [[], ['--full']]) {
      const argv = [program, '--kubeconfig', cluster.kubeconfigPath, 'logs', first?.name ?? '', ...more]
      const { code, stdout, stderr } = await execute(argv)
      expect({ code, stderr }).toMatchObject({ code: 0 })
      expect(stdout).toContain('containerd')
    }
  })
}
