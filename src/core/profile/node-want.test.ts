import { describe, expect, test } from 'vitest'
import { nodeProfile, noState, stateOf } from '../../../test/samples/profiles.ts'
import type { NodeProfileSpec } from '../../api/node-profile.ts'
import { moveBetween, nodeWant, profilesOf, type WantView } from './node-want.ts'
import { revisionsOf } from './revision.ts'

const motd = (content: string, more: Partial<NodeProfileSpec> = {}): NodeProfileSpec => ({
  files: [{ path: '/etc/motd', content }],
  ...more,
})
const find: WantView['find'] = (_profile, { content }) =>
  content === undefined
    ? { reason: { code: 'ProfileSourceMissing', message: 'it is not there' } }
    : { material: { content } }

describe('nodeWant', () => {
  test('with rollout ByUpdate keeps what was applied until the profile is released', () => {
    const profile = nodeProfile('base', motd('new', { rollout: 'ByUpdate' }))
    const before = stateOf(nodeProfile('base', motd('old')))
    const held = nodeWant({ profiles: [profile], before, find })
    const released = nodeWant({ profiles: [profile], before, find, released: 'base' })
    const other = nodeWant({ profiles: [profile], before, find, released: 'other' })
    const texts = [held, released, other].map((want) => want.ok && want.state.files[0]?.content)
    expect(texts).toEqual(['old', 'new', 'old'])
  })

  test('names the profile whose source is missing', () => {
    const profile = nodeProfile('base', { files: [{ path: '/etc/a', configMap: { name: 'a', key: 'b' } }] })
    expect(nodeWant({ profiles: [profile], before: noState, find })).toMatchObject({
      ok: false,
      reason: { code: 'ProfileSourceMissing' },
      profiles: ['base'],
    })
  })
})

describe('moveBetween', () => {
  const one = nodeProfile('one', { sysctls: { 'vm.a': '1' } })
  const two = nodeProfile('two', motd('x', { disruption: 'Drain' }))

  test('is none between equal states', () => {
    expect(moveBetween(stateOf(one), stateOf(one), [one])).toEqual({ move: 'none' })
  })

  test('is named after the profile that changes, coming and going', () => {
    const moves = [
      moveBetween(noState, stateOf(one), [one]),
      moveBetween(stateOf(one), stateOf(one, two), [one, two]),
      moveBetween(stateOf(one, two), stateOf(one), [one]),
    ]
    expect(moves).toMatchObject([
      { move: 'apply', profile: 'one', level: 'None' },
      { move: 'apply', profile: 'two', level: 'Drain' },
      { move: 'apply', profile: 'two', level: 'None' },
    ])
  })

  test('drains where nobody knows what was applied before', () => {
    expect(moveBetween(undefined, noState, [])).toMatchObject({ move: 'apply', profile: 'gone', level: 'Drain' })
  })

  test('who wants an item is told apart, though the host does not change', () => {
    const other = nodeProfile('other', { sysctls: { 'vm.a': '1' } })
    expect(profilesOf(stateOf(one))).toEqual(new Set(['one']))
    expect(moveBetween(stateOf(one), stateOf(other), [other])).toMatchObject({ move: 'apply', level: 'None' })
  })
})

describe('revisionsOf', () => {
  const base = nodeProfile('base', motd('x'))
  const extra = nodeProfile('extra', { sysctls: { 'vm.a': '1' } })
  const revision = (profiles = [base, extra], shared: string[][] = [['base', 'extra']], source = '') =>
    revisionsOf(profiles, shared, () => source).get('base')

  test('changes with the profile, its sources, and those that share a node with it', () => {
    const edited = nodeProfile('base', motd('y'))
    const other = nodeProfile('extra', { sysctls: { 'vm.a': '2' } })
    const all = [revision(), revision([edited, extra]), revision([base, other]), revision(undefined, undefined, '2')]
    expect(new Set(all).size).toBe(4)
    expect(revision([base, other], [['base'], ['extra']])).toBe(revision([base, extra], [['base'], ['extra']]))
  })

  test('changes when the profile is being deleted', () => {
    expect(revision([nodeProfile('base', motd('x'), true), extra])).not.toBe(revision())
  })

  test('does not change with how it is rolled out', () => {
    const how = nodeProfile('base', motd('x', { strategy: { maxUnavailable: 3 }, drift: { action: 'Report' } }))
    expect(revision([how, extra])).toBe(revision())
  })
})
