import { expect, it } from 'vitest'
import type { GateSpec } from '../../api/gate.ts'
import type { Pod } from '../../api/kube.ts'
import { gateDoubts } from './gate-doubts.ts'

const pod: Pod = {
  metadata: {
    ...{ name: 'web-1', namespace: 'shop', uid: 'u', resourceVersion: '1' },
    ...{ creationTimestamp: '2026-01-05T08:00:00Z', labels: { app: 'web' } },
  },
  spec: { containers: [] },
}

it.each<[string, Partial<GateSpec>, number]>([
  ['of its namespace', { namespace: 'shop' }, 1],
  ['of another one', { namespace: 'kube-system' }, 0],
  ['of all namespaces', {}, 1],
  ['of all namespaces, by their labels', { selector: { matchLabels: { app: 'web' } } }, 1],
  ['with other labels', { selector: { matchLabels: { app: 'db' } } }, 0],
])('a gate may fail by a pod that is in doubt: %s', (_name, part, doubts) => {
  expect(gateDoubts([{ type: 'PodsReady', ...part }], [pod], () => true)).toHaveLength(doubts)
})
