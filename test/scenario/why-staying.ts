// Situations in which a drain passes a pod over: it stays where it is.

import { daemonSets, pods } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import type { Story } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { shop } from './story-person.ts'
import { podOf, type Situation } from './why-asking.ts'
import { deploys, drains, onW1, podsOf } from './why-draining.ts'

/** Something else must hold the drain up meanwhile. */
async function drainsPast(story: Story): Promise<void> {
  await story.person.createsPod('lonely', 'w1')
  await story.cluster.pass(15_000)
  await drains(story, 'PodUnmanaged')
}

export const stayingSituations: readonly Situation[] = [
  {
    name: 'a static pod, which stays',
    arrange: async (story) => {
      await story.person.createsPod('static', 'w1')
      await story.person.changes(pods, 'static', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } })
      await drainsPast(story)
    },
    asked: [{ of: 'shop/static', code: 'PodMirror', names: /static pod/ }],
  },
  {
    name: 'a DaemonSet pod, which stays',
    arrange: async (story) => {
      await story.person.deploys({ name: 'web', replicas: 1 })
      const labels = { app: 'proxy' }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'pretend' }] } }
      const spec = { selector: { matchLabels: labels }, template }
      await story.person.creates(daemonSets, { metadata: { name: 'proxy', namespace: shop }, spec })
      await drainsPast(story)
    },
    asked: [{ of: podOf('proxy', 'w1'), code: 'PodOfDaemonSet', names: /belongs to a DaemonSet/ }],
  },
  {
    name: 'a pod that has ended, which stays',
    arrange: async (story) => {
      await story.person.createsPod('ended', 'w1', { restartPolicy: 'Never' })
      await story.cluster.until('it has ended', () => podsOf(story.cluster, 'w1')[0]?.status?.phase === 'Succeeded')
      await drainsPast(story)
    },
    asked: [{ of: 'shop/ended', code: 'PodFinished', names: /has ended/ }],
  },
  {
    name: 'a pod that a rule leaves',
    arrange: async (story) => {
      await deploys(story, { name: 'agent', replicas: 1, pod: onW1 })
      await story.person.createsPod('lonely', 'w1')
      await story.cluster.pass(15_000)
      await drains(story, 'PodUnmanaged', { rules: [{ selector: { matchLabels: { app: 'agent' } }, action: 'Skip' }] })
    },
    asked: [{ of: podOf('agent', 'w1'), code: 'PodSkipped', names: /stays, as a drain rule says/ }],
  },
  {
    name: 'a pod that tolerates the cordon and came back',
    arrange: async (story) => {
      await deploys(story, { name: 'typha', replicas: 1, pod: { ...onW1, tolerations: [{ operator: 'Exists' }] } })
      await drainsPast(story)
      await story.cluster.pass(15_000)
    },
    asked: [{ of: podOf('typha', 'w1'), code: 'PodReturned', names: /came back in spite of the cordon/ }],
  },
  {
    name: 'the operator, which has no other node to go to',
    options: { nodes: 1 },
    arrange: async ({ cluster, person, update }) => {
      await person.createsPod('lonely', 'cp1')
      await cluster.pass(15_000)
      update.script('true')
      await cluster.nodeIs('cp1', 'Draining', 'PodUnmanaged')
    },
    asked: [{ of: operatorPod, code: 'PodOfOperator', names: /no other node can take it/ }],
  },
]

function operatorPod({ sim }: StoryCluster): string {
  const [pod] = sim.podsOn('cp1').filter(({ metadata }) => metadata.namespace === operatorNamespace)
  return `${operatorNamespace}/${pod?.metadata.name}`
}
