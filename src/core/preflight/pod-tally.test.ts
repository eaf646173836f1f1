import { describe, expect, it } from 'vitest'
import { metadata, samplePod } from '../../../test/samples/cluster-objects.ts'
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts'
import { type DrainRule, drainOf } from '../drain/drain-policy.ts'
import { PodTally } from './pod-tally.ts'

function budget(name: string, app: string, part: Partial<PodDisruptionBudget> = {}): PodDisruptionBudget {
  return {
    metadata: metadata(name, { namespace: 'shop', generation: 2 }),
    spec: { selector: { matchLabels: { app } } },
    status: { observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
    ...part,
  }
}

function pod(name: string, app: string, part: Parameters<typeof samplePod>[1] = {}): Pod {
  const made = samplePod(name, { ...part, spec: { nodeName: 'w1', ...part.spec } })
  return { ...made, metadata: { ...made.metadata, labels: { app } } }
}

const asking = (cpu: string, memory: string) => ({ name: 'main', image: 'a', resources: { requests: { cpu, memory } } })

function tallied(budgets: readonly PodDisruptionBudget[], pods: readonly Pod[], rules: readonly DrainRule[] = []) {
  const tally = new PodTally(budgets, (node) => node !== 'other', drainOf({ rules: [...rules] }))
  for (const each of pods) tally.add(each)
  return tally.sight
}

describe('pods that go by', () => {
  it('are counted under the budgets that select them', () => {
    const { budgets } = tallied(
      [
        budget('web', 'web'),
        budget('db', 'db'),
        budget('all', 'x', { spec: { selector: {} } }),
        budget('none', 'x', { spec: {} }),
      ],
      [pod('a', 'web'), pod('b', 'web'), pod('c', 'api')],
    )
    expect(budgets.map(({ name, pods, example }) => [name, pods, example])).toEqual([
      ['shop/web', 2, 'shop/a'],
      ['shop/all', 3, 'shop/a'],
    ])
  })

  it('are none of the budget’s concern where they stay, have ended, go already, or run elsewhere', () => {
    const pods = [
      pod('daemon', 'web', { controller: 'DaemonSet' }),
      pod('static', 'web', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
      pod('ended', 'web', { phase: 'Succeeded' }),
      pod('going', 'web', { deletingSince: '2026-01-01T00:00:00Z' }),
      pod('elsewhere', 'web', { spec: { nodeName: 'other' } }),
      samplePod('unscheduled'),
    ]
    const { budgets, underTwo } = tallied([budget('a', 'web'), budget('b', 'web')], pods)
    expect(budgets).toEqual([])
    expect(underTwo.total).toBe(0)
  })

  it.each([
    ['Skip', 0],
    ['Force', 1],
    ['Evict', 1],
  ] as const)('wait for no budget where a drain rule says %s', (action, moving) => {
    const { budgets, loads } = tallied([budget('web', 'web')], [pod('a', 'web')], [{ action }])
    expect(budgets).toHaveLength(action === 'Evict' ? 1 : 0)
    expect(loads.get('w1')?.moving.pods).toBe(moving)
  })

  it('under two budgets are counted, and twenty named', () => {
    const pods = Array.from({ length: 30 }, (_, index) => pod(`web-${index}`, 'web'))
    const { underTwo } = tallied([budget('a', 'web'), budget('b', 'web')], pods)
    expect(underTwo.total).toBe(30)
    expect(underTwo.first).toHaveLength(20)
    expect(underTwo.first[0]).toEqual({ pod: 'shop/web-0', budgets: ['shop/a', 'shop/b'] })
  })

  it.each([
    ['that the controller has seen', 2, true],
    ['that was changed since', 1, false],
    ['that the controller has never seen', undefined, false],
  ])('know a budget’s status %s', (_name, observedGeneration, current) => {
    const status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
    const seen = observedGeneration === undefined ? {} : { status: { ...status, observedGeneration } }
    const { status: _, ...fresh } = budget('web', 'web')
    expect(tallied([{ ...fresh, ...seen }], [pod('a', 'web')]).budgets[0]?.current).toBe(current)
  })

  it('leave the sum of what they ask for, as the scheduler reckons', () => {
    const { loads } = tallied(
      [],
      [
        pod('plain', 'a', { spec: { containers: [asking('250m', '1Gi'), asking('250m', '1Gi')] } }),
        pod('init', 'a', { spec: { containers: [asking('1', '1Gi')], initContainers: [asking('2', '512Mi')] } }),
        pod('sidecar', 'a', {
          spec: { containers: [asking('1', '0')], initContainers: [{ ...asking('1', '0'), restartPolicy: 'Always' }] },
        }),
        pod('whole', 'a', {
          spec: { containers: [asking('8', '0')], resources: { requests: { cpu: '1' } }, overhead: { cpu: '500m' } },
        }),
        pod('daemon', 'a', { controller: 'DaemonSet', spec: { containers: [asking('1', '1Gi')] } }),
      ],
    )
    expect(loads.get('w1')).toEqual({
      asked: { cpu: 0.5 + 2 + 2 + 1.5 + 1, memoryBytes: 4 * 2 ** 30, pods: 5 },
      moving: { cpu: 0.5 + 2 + 2 + 1.5, memoryBytes: 3 * 2 ** 30, pods: 4 },
      largestCpu: { pod: 'shop/init', amount: 2 },
      largestMemory: { pod: 'shop/plain', amount: 2 * 2 ** 30 },
    })
  })
})
