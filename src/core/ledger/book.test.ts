import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Grant, Ledger } from '../../api/maintenance-policy.ts'
import { changeLedger, nextEpoch } from './book.ts'

const since = '2026-01-01T00:00:00Z'
const grant = (node: string, holder = 'a', nodeUID = `uid-${node}`): Grant => ({ node, nodeUID, holder, since })
const ledger: Ledger = { epoch: 7, grants: [grant('w1'), grant('w2', 'b')] }

describe('the book', () => {
  it.each<[string, Parameters<typeof changeLedger>[1], readonly Grant[]]>([
    ['grants', { grants: [grant('w3')], returns: [] }, [grant('w1'), grant('w2', 'b'), grant('w3')]],
    ['takes back', { grants: [], returns: [grant('w1')] }, [grant('w2', 'b')]],
    [
      'takes back and grants anew in one write',
      { grants: [grant('w1', 'b')], returns: [grant('w1')] },
      [grant('w2', 'b'), grant('w1', 'b')],
    ],
  ])('%s', (_name, change, grants) => {
    expect(changeLedger(ledger, change)).toEqual({ epoch: 7, grants })
  })

  it.each<[string, Parameters<typeof changeLedger>[1]]>([
    ['nothing asked', { grants: [], returns: [] }],
    ['a return by somebody else', { grants: [], returns: [grant('w1', 'b')] }],
    ['a return for another machine of that name', { grants: [], returns: [grant('w1', 'a', 'uid-other')] }],
    ['a return of what is not held', { grants: [], returns: [grant('w9')] }],
    ['a grant of what is held', { grants: [grant('w1', 'b')], returns: [] }],
    ['a grant its holder has', { grants: [grant('w1')], returns: [] }],
  ])('%s changes nothing, and says so by the same object', (_name, change) => {
    expect(changeLedger(ledger, change)).toBe(ledger)
  })

  it('books a node once when two ask for it in one write: the first', () => {
    const change = { grants: [grant('w3', 'a'), grant('w3', 'b')], returns: [] }
    expect(changeLedger({ epoch: 1, grants: [] }, change).grants).toEqual([grant('w3', 'a')])
  })

  it('a new leader counts on from what is there, and keeps every slot', () => {
    expect(nextEpoch(undefined)).toEqual({ epoch: 1, grants: [] })
    expect(nextEpoch(ledger)).toEqual({ epoch: 8, grants: ledger.grants })
  })

  it('over any history: no node twice, only the holder gives back, the epoch only rises', () => {
    const slot = fc
      .tuple(fc.constantFrom('w1', 'w2', 'w3'), fc.constantFrom('a', 'b'), fc.constantFrom('uid-1', 'uid-2'))
      .map(([node, holder, uid]) => grant(node, holder, uid))
    const slots = fc.array(slot, { maxLength: 3 })
    const event = fc.oneof(
      { weight: 5, arbitrary: fc.record({ grants: slots, returns: slots }) },
      { weight: 1, arbitrary: fc.constant('leader' as const) },
    )
    const key = ({ node, nodeUID, holder }: Grant) => `${node} ${nodeUID} ${holder}`
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (history) => {
        let book: Ledger = { epoch: 0, grants: [] }
        for (const event of history) {
          const before = book
          book = event === 'leader' ? nextEpoch(book) : changeLedger(book, event)
          expect(book.epoch).toBe(before.epoch + (event === 'leader' ? 1 : 0))
          expect(new Set(book.grants.map(({ node }) => node)).size).toBe(book.grants.length)
          const returned = new Set(event === 'leader' ? [] : event.returns.map(key))
          for (const held of before.grants) {
            if (!returned.has(key(held))) expect(book.grants).toContainEqual(held)
          }
        }
      }),
    )
  })
})
