import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { metadata, sampleAgent, sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { order } from '../../../test/samples/node-views.ts'
import type { Order } from '../../api/node-state.ts'
import type { WorkKind } from '../../api/window.ts'
import type { Work } from '../../api/work.ts'
import { Cluster } from '../cluster/cluster.ts'
import { MaintenanceSource } from './maintenance-source.ts'

const job = { name: 'rotate', sha256: 'a'.repeat(64), url: 'http://jobs.example/rotate' }
const jobs = [job]
const asked = '2026-01-01T11:00:00.000Z'

/** Of a node whose host asks for a reboot or not, and that has an order. */
function sourceOf(
  open: readonly WorkKind[],
  given: { readonly order?: Partial<Order>; readonly asksReboot?: boolean },
) {
  const ports = { api: new FakeKubeApi(), clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, 'slipway-system')
  cluster.policies.upsert({ metadata: metadata('default'), spec: { maintenance: { jobs }, reboots: {} } })
  cluster.nodes.upsert(sampleNode('w1'))
  const sentinels = given.asksReboot ? { rebootRequired: asked } : {}
  const agent = sampleAgent({ sentinels })
  cluster.states.upsert(sampleState('w1', { agent }))
  const isOpen = (kind: WorkKind) => open.includes(kind)
  const source = new MaintenanceSource({ cluster, namespace: 'slipway-system', isOpen, holderOf: () => undefined })
  const id = source.wish('w1')?.id ?? ''
  const written = order({ id: `${id}/1`, kind: 'Maintenance', ...given.order })
  const state = sampleState('w1', { agent, ...(given.order && { order: written }) })
  cluster.states.upsert({ ...state, metadata: { ...state.metadata, resourceVersion: '2' } })
  return { source, id }
}

describe('what was fetched for a node’s maintenance', () => {
  const cases: readonly { staged: Work['reboot']; asksReboot: boolean; open: readonly WorkKind[]; now: Work }[] = [
    { staged: 'IfRequired', asksReboot: false, open: ['Maintenance'], now: { jobs, reboot: 'Never' } },
    { staged: 'IfRequired', asksReboot: false, open: [], now: { jobs, reboot: 'Never' } },
    { staged: 'Never', asksReboot: false, open: ['Maintenance', 'Reboot'], now: { jobs, reboot: 'IfRequired' } },
    { staged: 'Always', asksReboot: true, open: ['Maintenance'], now: { jobs, reboot: 'Never' } },
    { staged: 'Never', asksReboot: true, open: ['Maintenance', 'Reboot'], now: { jobs, reboot: 'Always' } },
    { staged: 'Never', asksReboot: true, open: ['Reboot'], now: { reboot: 'Always' } },
  ]
  it.each(cases)('with $staged, where $open may start, a reboot asked for: $asksReboot', (given) => {
    const { staged, asksReboot, open, now } = given
    const { source, id } = sourceOf(open, { order: { desired: 'Stage', work: { jobs, reboot: staged } }, asksReboot })
    expect(source.operation(id)?.work).toEqual(now)
    expect(source.isOutdated('w1')).toBe(true)
  })

  it('is kept where windows say the same', () => {
    const work: Work = { jobs, reboot: 'Never' }
    const { source, id } = sourceOf(['Maintenance'], { order: { desired: 'Stage', work } })
    expect(source.operation(id)?.work).toEqual(work)
    expect(source.isOutdated('w1')).toBe(false)
  })

  it('stands as it is once it may run', () => {
    const work: Work = { jobs, reboot: 'IfRequired' }
    const { source, id } = sourceOf(['Maintenance'], { order: { desired: 'Run', work } })
    expect(source.operation(id)?.work).toEqual(work)
    expect(source.isOutdated('w1')).toBe(false)
  })

  it('is none where nothing was written yet', () => {
    const { source, id } = sourceOf(['Maintenance'], {})
    expect(source.operation(id)?.work).toEqual({ jobs, reboot: 'Never' })
    expect(source.isOutdated('w1')).toBe(false)
  })
})
