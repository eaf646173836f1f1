import { describe, expect, it } from 'vitest'
import { node } from '../../../test/cli/cli-fixture.ts'
import { previewSchema } from '../../api/preview.ts'
import { type PreviewView, previewOf } from './preview.ts'

const workers = (count: number) => Array.from({ length: count }, (_, index) => node(`w${index + 1}`))
const cp1 = node('cp1', { controlPlane: true })

const view = (part: Partial<PreviewView> = {}): PreviewView => ({
  nodes: [...workers(3), cp1],
  states: [],
  work: { script: { configMap: 'c', namespace: 'n', sha256: '0'.repeat(64) } },
  waves: [{ size: '100%' }],
  atOnce: 1,
  paused: false,
  heldBy: () => undefined,
  ...part,
})

describe('the preview in an update’s status', () => {
  it('names the waves, and how long they take one after the other', () => {
    expect(previewOf(view())).toEqual({
      waves: [
        { nodes: 1, first: ['cp1'] },
        { nodes: 3, first: ['w1', 'w2', 'w3'] },
      ],
      duration: '8m',
      blockers: [],
    })
  })

  it.each([
    { name: 'several at once', part: { atOnce: 3 }, duration: '4m' },
    { name: 'a Kubernetes upgrade', part: { work: { kubernetes: { version: 'v1.36.3' } } }, duration: '14m' },
    { name: 'a reboot', part: { work: { reboot: 'Always' as const } }, duration: '12m' },
    {
      name: 'waves that are looked at',
      part: { waves: [{ size: 1, soak: '15m' }, { size: '100%' }] },
      duration: '23m',
    },
    { name: 'nothing to do', part: { nodes: [] }, duration: undefined },
  ])('counts $name', ({ part, duration }) => {
    expect(previewOf(view(part)).duration).toBe(duration)
  })

  it('cuts the workers into waves', () => {
    const { waves } = previewOf(view({ waves: [{ size: 1 }, { size: '50%' }, { size: '100%' }], nodes: workers(8) }))
    expect(waves.map(({ nodes }) => nodes)).toEqual([1, 3, 4])
    expect(waves[1]?.first).toEqual(['w2', 'w3', 'w4'])
  })

  it('tells what is in the way already', () => {
    const nodes = [node('w1', { notReady: true }), node('w2')]
    const { blockers } = previewOf(
      view({ nodes, paused: true, heldBy: (name) => (name === 'w2' ? 'other/1' : undefined) }),
    )
    expect(blockers.map(({ node: name, reason }) => `${name ?? ''} ${reason.code}`)).toEqual([
      ' PolicyPaused',
      'w1 NodeNotReady',
      'w2 NodeHeldElsewhere',
    ])
  })

  it('stays small for any cluster', () => {
    const nodes = workers(5000).map((one) => node(one.metadata.name, { notReady: true }))
    const preview = previewOf(view({ nodes }))
    expect(previewSchema.parse(preview)).toEqual(preview)
    expect(preview.waves[0]).toMatchObject({ nodes: 5000 })
    expect(preview.waves[0]?.first.slice(0, 3)).toEqual(['w1', 'w2', 'w3'])
    expect(preview.blockers).toHaveLength(20)
  })
})
