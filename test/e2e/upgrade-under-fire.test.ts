import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import { type KubeadmCluster, raiseCluster } from '../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../bed/kubeadm-config.ts'
import type { Machine } from '../bed/machine.ts'
import { kubernetesVersion } from '../bed/versions.ts'
import { hostServiceStory } from './host-service-story.ts'
import { hostStory } from './host-story.ts'
import { profileStory } from './profile-story.ts'
import { sentinelStory } from './sentinel-story.ts'
import { SlipwayInCluster } from './slipway-in-cluster.ts'

const upgradeMs = 20 * 60_000
/** What takes less is over before anybody could be killed in it; the conformance suite kills there at each write. */
const lastingMs = 1_000

describe('an upgrade whose agents are killed in every step, and one machine loses power inside dpkg', () => {
  let bed: Bed
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster

  beforeAll(async () => {
    bed = await openBed()
    cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 2 })
    slipway = await SlipwayInCluster.install(cluster)
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  test('ends at the new version all the same', { timeout: upgradeMs + 120_000 }, async () => {
    const over = new AbortController()
    const killed = new Map<string, string>()
    const [, , victim] = cluster.nodes
    if (!victim) throw new Error('three nodes were asked for')
    const killing = killInEveryStep(slipway, killed, over.signal)
    const crashing = losePowerInsideInstall(victim, over.signal)

    await slipway.create(directUpdates, 'to-1-36', {
      kubernetes: { version: kubernetesVersion, kubeadm: { ignorePreflightErrors: ignoredChecks.split(',') } },
      nodeTimeout: '20m',
    })
    const update = await slipway.ended('to-1-36', upgradeMs)
    over.abort()
    await killing
    expect(await crashing, 'dpkg was never seen running in a step that installs').toMatch(/^install-/)

    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    for (const node of cluster.nodes) {
      const steps = (await slipway.state(node.name)).status?.agent?.order?.steps ?? []
      const lasting = steps.filter(({ startedAt, finishedAt }) => durationMs(startedAt, finishedAt) >= lastingMs)
      expect(lasting.length).toBeGreaterThan(1)
      for (const { name } of lasting) expect([...killed.keys()]).toContain(`${node.name} ${name}`)
    }
    const alone = [...killed].filter(([, end]) => end === 'alone').map(([step]) => step)
    expect(alone.length, `never killed by us: ${alone}`).toBeLessThan(killed.size / 2)
  })

  test('every node is whole', async () => {
    expect(await cluster.nodeStatuses()).toEqual(
      cluster.nodes.map(({ name }) => ({ name, isReady: true, kubeletVersion: kubernetesVersion })),
    )
    for (const node of cluster.nodes) {
      expect(await node.run(['dpkg', '--audit'])).toBe('')
      expect(await node.run(['kubelet', '--version'])).toBe(`Kubernetes ${kubernetesVersion}\n`)
    }
  })

  hostStory(() => slipway)
  profileStory(() => ({ bed, slipway }))
  sentinelStory(() => slipway)
  hostServiceStory(() => slipway)
})

function durationMs(startedAt: string | undefined, finishedAt: string | undefined): number {
  return startedAt === undefined || finishedAt === undefined ? 0 : Date.parse(finishedAt) - Date.parse(startedAt)
}

/** The agent of a node is killed once in each step, as soon as the step is seen to run. */
async function killInEveryStep(
  slipway: SlipwayInCluster,
  killed: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = slipway
  const watchOne = async (machine: Machine) => {
    const steps: string[] = []
    while (!signal.aborted) {
      // A machine without power has nobody to be killed.
      const look = await machine.exec(['sh', '-c', killOnce, 'sh', ...steps]).catch(() => undefined)
      const [step, end] = look?.stdout.trim().split(' ') ?? []
      if (!step || !end) {
        await wait(100)
        continue
      }
      steps.push(step)
      killed.set(`${machine.name} ${step}`, end)
      // Without this the kubelet would wait longer after each death before it starts the next one.
      if (end === 'killed') void renewPod(slipway, machine).catch(() => undefined)
    }
  }
  await Promise.all(cluster.nodes.map(watchOne))
}

/**
 * Looks for a second on the machine itself, as with the API away nobody else knows, and kills in the step it sees first.
 * A step is begun by an agent: where nobody is there to be killed while it runs, its agent has ended in it
 * already, by the deletion of the pod that the death before was answered with.
 */
const killOnce = `
for look in $(seq 20); do
  for file in /var/lib/slipway/orders/*/*.inprogress; do
    step=\${file##*/step-}; step=\${step#*-}; step=\${step%.inprogress}
    [ -e "$file" ] || continue
    case " $* " in *" $step "*) continue ;; esac
    if pkill -KILL -f '[s]lipway.mjs agent'; then echo "$step killed"; exit; fi
    if [ -e "$file" ]; then echo "$step alone"; exit; fi
  done
  sleep 0.05
done`

async function renewPod({ cluster }: SlipwayInCluster, { name }: Machine): Promise<void> {
  await cluster.kubectl([
    ...['delete', 'pod', '-n', 'slipway-system', '-l', 'app.kubernetes.io/component=agent'],
    ...['--field-selector', `spec.nodeName=${name}`, '--grace-period=0', '--force', '--wait=false'],
  ])
}

/** The step that runs on a machine while the shell's condition holds there, both seen in one look. */
async function runningStep(machine: Machine, condition: string): Promise<string | undefined> {
  const look = `ls /var/lib/slipway/orders/*/*.inprogress 2>/dev/null && ${condition}`
  const seen = await machine.exec(['sh', '-c', look]).catch(() => undefined)
  return seen?.code === 0 ? /step-[0-9]+-(.+)\.inprogress/.exec(seen.stdout)?.[1] : undefined
}

/** Not in whichever dpkg comes first: staging asks it for its architectures, too. */
async function losePowerInsideInstall(machine: Machine, signal: AbortSignal): Promise<string | undefined> {
  while (!signal.aborted) {
    const step = await runningStep(machine, 'pgrep -x dpkg')
    if (step?.startsWith('install-')) {
      await machine.powerLoss()
      await machine.boot()
      return step
    }
    await wait(20)
  }
  return undefined
}
