import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LabelSelector } from '../api/kube.ts'
import { requiredTerm, selectorText, selects, termsOf } from './label-selector.ts'

const labels = { pool: 'a', zone: 'north', empty: '' }
const term = (key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
})

describe('a label selector', () => {
  it.each<[string, LabelSelector | undefined, boolean]>([
    ['absent', undefined, true],
    ['empty', {}, true],
    ['with empty parts', { matchLabels: {}, matchExpressions: [] }, true],
    ['equal label', { matchLabels: { pool: 'a' } }, true],
    ['empty value', { matchLabels: { empty: '' } }, true],
    ['other value', { matchLabels: { pool: 'b' } }, false],
    ['missing label', { matchLabels: { disk: 'ssd' } }, false],
    ['missing label asked for as empty', { matchLabels: { disk: '' } }, false],
    ['one of two labels', { matchLabels: { pool: 'a', zone: 'south' } }, false],
    ['In, there', term('pool', 'In', ['b', 'a']), true],
    ['In, other', term('pool', 'In', ['b']), false],
    ['In, missing', term('disk', 'In', ['ssd']), false],
    ['In, no values', term('pool', 'In'), false],
    ['NotIn, there', term('pool', 'NotIn', ['a']), false],
    ['NotIn, other', term('pool', 'NotIn', ['b']), true],
    ['NotIn, missing', term('disk', 'NotIn', ['ssd']), true],
    ['Exists, there', term('empty', 'Exists'), true],
    ['Exists, missing', term('disk', 'Exists'), false],
    ['Exists, a word every object knows', term('constructor', 'Exists'), false],
    ['DoesNotExist, there', term('pool', 'DoesNotExist'), false],
    ['DoesNotExist, missing', term('disk', 'DoesNotExist'), true],
    ['DoesNotExist, a word every object knows', term('toString', 'DoesNotExist'), true],
    ['labels hold, expression does not', { matchLabels: { pool: 'a' }, ...term('zone', 'In', ['south']) }, false],
    ['expression holds, labels do not', { matchLabels: { pool: 'b' }, ...term('zone', 'In', ['north']) }, false],
    [
      'one of two expressions',
      { matchExpressions: [...(term('pool', 'Exists').matchExpressions ?? []), { key: 'disk', operator: 'Exists' }] },
      false,
    ],
  ])('%s', (_name, selector, matches) => {
    expect(selects(selector, labels)).toBe(matches)
  })

  it('takes absent labels for none', () => {
    expect(selects({ matchLabels: { pool: 'a' } })).toBe(false)
    expect(selects(term('pool', 'DoesNotExist'))).toBe(true)
  })

  it('In and NotIn, Exists and DoesNotExist are opposites', () => {
    const word = fc.constantFrom('pool', 'zone', 'a', 'b', '')
    fc.assert(
      fc.property(fc.dictionary(word, word), word, fc.array(word), (own, key, values) => {
        expect(selects(term(key, 'NotIn', values), own)).toBe(!selects(term(key, 'In', values), own))
        expect(selects(term(key, 'DoesNotExist'), own)).toBe(!selects(term(key, 'Exists'), own))
      }),
    )
  })

  it('a selector that matches is found by one of the terms of the labels', () => {
    const word = fc.constantFrom('pool', 'zone', 'a', 'b', '')
    const labelled = fc.dictionary(word, word)
    fc.assert(
      fc.property(labelled, labelled, fc.boolean(), (own, others, subset) => {
        const matchLabels = subset ? Object.fromEntries(Object.entries(own).slice(1)) : others
        fc.pre(selects({ matchLabels }, own))
        expect(termsOf(own)).toContain(requiredTerm({ matchLabels }))
      }),
    )
    expect(termsOf()).toContain(requiredTerm(undefined))
    expect(requiredTerm({ matchLabels: { pool: 'a' } })).toBe('pool=a')
  })
})

describe('a selector as a query', () => {
  it.each<[string, LabelSelector, string]>([
    ['nothing asked for', {}, ''],
    ['labels', { matchLabels: { pool: 'a', 'example.com/b': '' } }, 'pool=a,example.com/b='],
    ['In', term('pool', 'In', ['a', 'b']), 'pool in (a,b)'],
    ['NotIn', term('pool', 'NotIn', ['a']), 'pool notin (a)'],
    ['Exists', term('pool', 'Exists'), 'pool'],
    ['DoesNotExist', term('pool', 'DoesNotExist'), '!pool'],
    ['both parts', { matchLabels: { a: 'b' }, ...term('pool', 'Exists') }, 'a=b,pool'],
  ])('%s', (_name, selector, expected) => {
    expect(selectorText(selector)).toBe(expected)
  })
})
