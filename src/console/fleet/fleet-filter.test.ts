import { expect, test } from 'vitest'
import type { NodeTile } from '../../api/console.ts'
import { fleetJudge } from './fleet-filter.ts'

function tile(name: string, more: Partial<NodeTile> = {}): NodeTile {
  return {
    name,
    zone: 'eu-1a',
    group: 'General',
    role: 'Worker',
    phase: 'Done',
    waits: false,
    kubelet: 'v1.36.3',
    ...more,
  }
}

const tiles = [
  tile('cp-1a', { group: 'ControlPlane', role: 'ControlPlane', wave: 0 }),
  tile('w-1a-01', { phase: 'Draining', profile: 'base' }),
  tile('w-1b-02', { zone: 'eu-1b', phase: 'RequiresAttention', wave: 2 }),
  tile('gpu-1b-01', { zone: 'eu-1b', group: 'GPU', phase: 'Pending', wave: 2, kubelet: 'v1.34.4' }),
]
const titles = ['control plane', 'wave 1', 'wave 2']

function found(words: string, phases: readonly NodeTile['phase'][] = []): readonly string[] {
  const judge = fleetJudge({ words, phases: new Set(phases) }, ({ wave }) => titles[wave ?? -1])
  return tiles.filter(judge.matches).map(({ name }) => name)
}

test.each([
  ['', ['cp-1a', 'w-1a-01', 'w-1b-02', 'gpu-1b-01']],
  ['w-1', ['w-1a-01', 'w-1b-02']],
  ['zone:eu-1b', ['w-1b-02', 'gpu-1b-01']],
  ['zone:eu-1b role:gpu', ['gpu-1b-01']],
  ['role:control', ['cp-1a']],
  ['phase:drain', ['w-1a-01']],
  ['phase:attention', ['w-1b-02']],
  ['wave:2', ['w-1b-02', 'gpu-1b-01']],
  ['version:1.34', ['gpu-1b-01']],
  ['profile:base', ['w-1a-01']],
  ['ATTENTION', ['w-1b-02']],
  ['nosuchword:x', []],
])('“%s” leaves %j', (words, names) => {
  expect(found(words)).toEqual(names)
})

test('phases of the legend and words hold together', () => {
  expect(found('zone:eu-1b', ['Pending', 'Draining'])).toEqual(['gpu-1b-01'])
})

test('a word that means nothing is named', () => {
  expect(fleetJudge({ words: 'pool:x zone:a', phases: new Set() }, () => undefined).unknown).toEqual(['pool'])
})
