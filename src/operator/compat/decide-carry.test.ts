import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metadata } from '../../../test/samples/cluster-objects.ts'
import { mergePatched } from '../../../test/samples/merge-patched.ts'
import {
  type CarryAction,
  type CarryView,
  carriedBy,
  carrierName,
  decideCarry,
  foreignMessage,
  pausedByTheirs,
} from './decide-carry.ts'

interface Spec {
  readonly version?: string
  readonly pace?: object
  readonly desiredState?: string
}

const theirs = metadata('up')
const name = carrierName(theirs)
const linked = { ...theirs, annotations: { [carriedBy]: name } }
const ours = (spec: Spec, annotations = {}) => ({ metadata: metadata(name, { annotations }), spec })
const view = (part: Partial<CarryView<Spec>> = {}): CarryView<Spec> => ({
  ...{ theirs, orphanFinalizers: ['kopf'], isOver: false, ours: undefined, fields: ['version', 'pace'], fixed: [] },
  translated: { spec: { version: '1' }, notes: [] },
  ...part,
})

describe('a resource of another system', () => {
  const cases: readonly [string, Partial<CarryView<Spec>>, CarryAction<Spec>][] = [
    ['is carried out by one of ours', {}, { action: 'make', name, spec: { version: '1' } }],
    ['begins paused', { paused: true }, { action: 'make', name, spec: { version: '1', desiredState: 'Paused' } }],
    ['that was brought to its end is left alone', { isOver: true }, { action: 'rest' }],
    [
      'that we refused may be put right',
      { isOver: true, theirs: { ...theirs, annotations: { [foreignMessage]: 'no' } } },
      { action: 'make', name, spec: { version: '1' } },
    ],
    ['that cannot be is refused', { translated: { refusal: 'no' } }, { action: 'refuse', why: { refusal: 'no' } }],
    ['says by which of ours, once that is there', { ours: ours({ version: '1' }) }, { action: 'link', name }],
    ['is not made anew when a person deleted ours', { theirs: linked }, { action: 'gone' }],
    ['is told of', { theirs: linked, ours: ours({ version: '1' }) }, { action: 'tell', notes: [] }],
    [
      'passes its edit on',
      { theirs: linked, ours: ours({ version: '0', pace: { a: 1 } }) },
      { action: 'edit', spec: { version: '1', pace: null } },
    ],
    [
      'keeps back what cannot change now, and says so',
      { theirs: linked, ours: ours({ version: '0' }), fixed: ['version'] },
      { action: 'tell', notes: ['a change of version waits for the end of what runs now'] },
    ],
    [
      'edited into nonsense goes on as it was',
      { theirs: linked, ours: ours({ version: '0' }), translated: { refusal: 'no' } },
      { action: 'tell', notes: ['its edit is not taken up: no'] },
    ],
    [
      'is paused',
      { theirs: linked, ours: ours({ version: '1' }), paused: true },
      { action: 'edit', spec: { desiredState: 'Paused' } },
    ],
    [
      'is resumed, where it was paused by this',
      {
        theirs: linked,
        ours: ours({ version: '1', desiredState: 'Paused' }, { [pausedByTheirs]: 'true' }),
        paused: false,
      },
      { action: 'edit', spec: { desiredState: null } },
    ],
    [
      'leaves the pause of a person',
      { theirs: linked, ours: ours({ version: '1', desiredState: 'Paused' }), paused: false },
      { action: 'tell', notes: [] },
    ],
    [
      'brings nothing back that was cancelled',
      { theirs: linked, ours: ours({ version: '1', desiredState: 'Cancelled' }), paused: true },
      { action: 'tell', notes: [] },
    ],
    [
      'that is being deleted loses the finalizer nobody else takes off',
      { theirs: { ...linked, deletionTimestamp: 'now', finalizers: ['kopf', 'other'] } },
      { action: 'release', finalizers: ['other'] },
    ],
    ['that is being deleted is not made', { theirs: { ...theirs, deletionTimestamp: 'now' } }, { action: 'rest' }],
  ]

  it.each(cases)('%s', (_what, part, action) => {
    expect(decideCarry(view(part))).toEqual(action)
  })

  it('is what ours becomes, whatever it was, and then nothing is left to do', () => {
    const json = fc.object({
      ...{ maxDepth: 2, key: fc.constantFrom('a', 'b', 'size', 'type') },
      values: [fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer())],
    })
    const spec = fc.record({ version: fc.string(), pace: json }, { requiredKeys: [] })
    fc.assert(
      fc.property(spec, spec, (before, wanted) => {
        const translated = { spec: wanted, notes: [] }
        const first = decideCarry<Spec>(view({ theirs: linked, ours: ours(before), translated }))
        const after = first.action === 'edit' ? (mergePatched(before, first.spec) as Spec) : before
        expect(decideCarry<Spec>(view({ theirs: linked, ours: ours(after), translated }))).toEqual({
          action: 'tell',
          notes: [],
        })
      }),
    )
  })
})
