import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePatched } from '../../../test/samples/merge-patched.ts'
import { type DirectUpdate, type DirectUpdateSpec, directUpdateSpecSchema } from '../../api/direct-update.ts'
import { type HousekeeperUpdate, housekeeperLabels, housekeeperMark, housekeeperResult } from '../../api/housekeeper.ts'
import type { Node } from '../../api/kube.ts'
import type { NodePhase, NodeState } from '../../api/node-state.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { translateUpdate } from './housekeeper.ts'
import { labelChange } from './housekeeper-labels.ts'
import { type CarriedUpdate, decideTurn, whoseTurn } from './housekeeper-turn.ts'

const digest = `sha256:${'a'.repeat(64)}`
const whole = { osImageURL: 'hub.example/nestos:22', kubeVersion: 'v1.36.3', evictPodForce: true, maxUnavailable: 2 }
const block = { unmanagedPods: 'Block', emptyDir: 'Delete' }

describe('an Update of Housekeeper', () => {
  it.each<[string, object, object]>([
    [
      'with every field',
      whole,
      {
        kubernetes: { version: 'v1.36.3' },
        os: { image: 'hub.example/nestos:22' },
        stamps: ['/var/nkd/os/22.stamp', '/var/nkd/kube/v1.36.3.stamp'],
        strategy: { maxUnavailable: 2 },
        drain: { unmanagedPods: 'Delete', emptyDir: 'Delete' },
      },
    ],
    [
      'for the operating system only',
      { ...whole, kubeVersion: '', evictPodForce: false },
      {
        os: { image: whole.osImageURL },
        stamps: ['/var/nkd/os/22.stamp'],
        strategy: { maxUnavailable: 2 },
        drain: block,
      },
    ],
    [
      'for Kubernetes only',
      { osImageURL: '', kubeVersion: '1.36.3', evictPodForce: false, maxUnavailable: 1 },
      {
        kubernetes: { version: '1.36.3' },
        stamps: ['/var/nkd/kube/1.36.3.stamp'],
        strategy: { maxUnavailable: 1 },
        drain: block,
      },
    ],
    [
      'with only the field that its document requires',
      { osImageURL: `registry.example:5000/os/nestos:22@${digest}` },
      {
        os: { image: `registry.example:5000/os/nestos:22@${digest}` },
        stamps: [`/var/nkd/os/${'a'.repeat(64)}.stamp`],
        strategy: { maxUnavailable: 1 },
        drain: block,
      },
    ],
    [
      'whose image has no tag',
      { osImageURL: 'registry.example:5000/nestos' },
      { os: { image: 'registry.example:5000/nestos' }, strategy: { maxUnavailable: 1 }, drain: block },
    ],
  ])('%s', (_, spec, ours) => {
    expect(translateUpdate({ spec })).toEqual({ spec: ours, notes: [] })
  })

  it('updates one worker at a time where none would ever be', () => {
    const translated = translateUpdate({ spec: { ...whole, maxUnavailable: 0 } })
    expect(translated).toMatchObject({
      spec: { strategy: { maxUnavailable: 1 } },
      notes: [expect.stringContaining('0')],
    })
  })

  it.each([
    [{ osImageURL: '', kubeVersion: '', evictPodForce: false, maxUnavailable: 2 }, /names nothing to do/],
    [undefined, /names nothing to do/],
    [{ osImageURL: 'not an image' }, /osImageURL "not an image" is no image/],
    [{ kubeVersion: 'newest' }, /^spec\.kubeVersion must be a full version/],
    [{ osImageURL: 3 }, /^spec\.osImageURL: /],
  ])('%o is refused in its own words', (spec, words) => {
    expect(translateUpdate({ spec })).toEqual({ refusal: expect.stringMatching(words) })
  })

  it('becomes something we accept, or is refused: whatever its definition lets through', () => {
    const some = fc.record({
      osImageURL: fc.oneof(fc.string(), fc.constantFrom('', 'a/b:c', 'x.example/y', `r:5000/a/b:t@${digest}`)),
      kubeVersion: fc.oneof(fc.string(), fc.constantFrom('', 'v1.36.3', '1.36.3+k1')),
      evictPodForce: fc.boolean(),
      maxUnavailable: fc.integer(),
    })
    fc.assert(
      fc.property(some, (spec) => {
        const translated = translateUpdate({ spec })
        if ('spec' in translated) expect(directUpdateSpecSchema.safeParse(translated.spec).success).toBe(true)
        else expect(translated.refusal).not.toBe('')
      }),
    )
  })
})

const theirs = (name: string, spec: object = whole, annotations = {}, minute = 0): HousekeeperUpdate => ({
  metadata: {
    ...{ name, namespace: 'housekeeper-system', uid: `${name}-uid-0000`, resourceVersion: '1', annotations },
    creationTimestamp: `2026-11-15T12:0${minute}:00Z`,
  },
  spec,
})
const specOf = (spec: object): DirectUpdateSpec => {
  const translated = translateUpdate({ spec })
  if ('refusal' in translated) throw new Error(translated.refusal)
  return translated.spec
}
const ours = (phase: string | undefined, spec: DirectUpdateSpec = specOf(whole)): DirectUpdate => ({
  metadata: { name: 'ours', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-15T12:00:00Z' },
  spec,
  status: { ...(phase && { phase: phase as 'Failed' }), progress: '1/3' },
})
const carried = (update: HousekeeperUpdate, made?: DirectUpdate): CarriedUpdate => ({
  theirs: update,
  translated: translateUpdate(update),
  ours: made,
})
const decide = (one: CarriedUpdate, ...others: readonly CarriedUpdate[]) => decideTurn(one, whoseTurn([one, ...others]))
const mark = fingerprint(specOf(whole))

describe('turns', () => {
  it('makes ours once', () => {
    const name = 'a-a-uid-00'
    expect(decide(carried(theirs('a')))).toEqual({ action: 'make', name, spec: specOf(whole) })
    expect(decide(carried(theirs('a'), ours(undefined)))).toEqual({
      action: 'tell',
      result: { phase: 'Pending', update: 'ours', progress: '1/3', carried: mark },
    })
  })

  it('takes back what a person added inside of a field that follows theirs, and then goes on', () => {
    const edited = ours('InProgress', { ...specOf(whole), strategy: { maxUnavailable: 2, maxFailures: 3 } })
    const action = decide(carried(theirs('a'), edited))
    expect(action).toEqual({ action: 'edit', spec: { strategy: { maxFailures: null } } })
    const spec = mergePatched(edited.spec, action.action === 'edit' ? action.spec : {}) as DirectUpdateSpec
    expect(decide(carried(theirs('a'), ours('InProgress', spec)))).toMatchObject({ action: 'tell' })
  })

  it('carries out one at a time, the oldest first', () => {
    const [first, second] = [carried(theirs('b', whole, {}, 1)), carried(theirs('a', whole, {}, 2))]
    expect(decide(first, second)).toMatchObject({ action: 'make' })
    expect(decide(second, first)).toMatchObject({
      action: 'tell',
      result: { phase: 'Waiting', message: expect.stringContaining('Update housekeeper-system/b') },
    })
    const running = carried(first.theirs, ours('InProgress'))
    expect(decide(second, running)).toMatchObject({ action: 'tell', result: { phase: 'Waiting' } })
    const ended = carried(first.theirs, ours('Failed'))
    expect(decide(second, ended)).toMatchObject({ action: 'make' })
    expect(decide(second, carried(theirs('c', {}, {}, 0)))).toMatchObject({ action: 'make' })
    expect(decideTurn(first, undefined)).toMatchObject({
      result: { phase: 'Waiting', message: expect.stringContaining('was deleted are put back') },
    })
  })

  it('passes on at once what is safe, and the rest when nothing runs', () => {
    const edited = theirs('a', { ...whole, kubeVersion: 'v1.36.4', maxUnavailable: 3 })
    expect(decide(carried(edited, ours('InProgress')))).toEqual({
      action: 'edit',
      spec: { strategy: { maxUnavailable: 3 } },
    })
    const image = theirs('a', { ...whole, kubeVersion: '' })
    expect(decide(carried(image, ours('InProgress')))).toMatchObject({
      result: { message: expect.stringContaining('slipway cancel ours ends it earlier') },
    })
    expect(decide(carried(image, ours('Succeeded')))).toEqual({
      action: 'edit',
      spec: { kubernetes: null, stamps: ['/var/nkd/os/22.stamp'] },
    })
  })

  it('does not make again what a person deleted, unless something else is wanted', () => {
    const known = { [housekeeperResult.carried]: mark, [housekeeperResult.update]: 'ours' }
    expect(decide(carried(theirs('a', whole, known)))).toMatchObject({ action: 'tell', result: { phase: 'Gone' } })
    expect(decide(carried(theirs('a', { ...whole, maxUnavailable: 5 }, known)))).toMatchObject({ action: 'make' })
  })

  it('says what cannot be carried out, and leaves what runs', () => {
    expect(decide(carried(theirs('a', {})))).toMatchObject({ action: 'tell', result: { phase: 'Refused' } })
    expect(decide(carried(theirs('a', {}), ours('InProgress')))).toMatchObject({
      result: { phase: 'InProgress', message: expect.stringContaining('its edit is not taken up') },
    })
    const { metadata, spec } = theirs('a')
    const deleted = { spec, metadata: { ...metadata, deletionTimestamp: '2026-11-15T13:00:00Z' } }
    expect(decide(carried(deleted))).toEqual({ action: 'rest' })
  })
})

describe('labels of nodes', () => {
  const node = (labels = {}, annotations = {}): Node => ({
    metadata: { name: 'w1', uid: 'n', resourceVersion: '1', creationTimestamp: '', labels, annotations },
    spec: {},
  })
  const update = (phase: string): DirectUpdate => ({
    ...ours(phase),
    status: { phase: phase as 'Failed', operationID: 'op' },
  })
  const state = (phase: NodePhase, operationID = 'op'): NodeState => ({
    metadata: node().metadata,
    spec: {},
    status: { rollout: { update: 'ours', operationID, phase, since: '', attempt: 1 } },
  })
  const { upgrading, completed } = housekeeperLabels
  const marked = { [housekeeperMark]: 'ours' }

  it.each<[string, Node, DirectUpdate | undefined, NodeState | undefined, object | undefined]>([
    ['waits', node(), update('InProgress'), state('Pending'), undefined],
    [
      'begins',
      node(),
      update('InProgress'),
      state('Draining'),
      { labels: { [upgrading]: '', [completed]: null }, annotations: marked },
    ],
    ['goes on', node({ [upgrading]: '' }, marked), update('InProgress'), state('Working'), undefined],
    [
      'is done',
      node({ [upgrading]: '' }, marked),
      update('InProgress'),
      state('Done'),
      { labels: { [upgrading]: null, [completed]: '' }, annotations: marked },
    ],
    ['failed', node({ [upgrading]: '' }, marked), update('Failed'), state('Failed'), undefined],
    [
      'all are done',
      node({ [completed]: '' }, marked),
      update('Succeeded'),
      state('Done'),
      { labels: { [upgrading]: null, [completed]: null }, annotations: { [housekeeperMark]: null } },
    ],
    [
      'ours is gone',
      node({ [upgrading]: '' }, marked),
      undefined,
      undefined,
      { labels: { [upgrading]: null, [completed]: null }, annotations: { [housekeeperMark]: null } },
    ],
    ['it is another’s label', node({ [upgrading]: '' }), undefined, undefined, undefined],
    ['another operation has the node', node(), update('InProgress'), state('Working', 'other'), undefined],
  ])('%s', (_, there, about, standing, change) => {
    expect(labelChange(there, about, standing)).toEqual(change)
  })
})
