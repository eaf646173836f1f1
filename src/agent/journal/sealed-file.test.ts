import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentRecordSchema, journalFormat } from '../../api/journal.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { seal, sha256, unseal } from './sealed-file.ts'

const record = fc.record({ epoch: fc.nat(), nodeUID: fc.string({ maxLength: 64, unit: 'grapheme' }) })

function attempt(text: string): unknown {
  try {
    return unseal('/x/agent.json', text, agentRecordSchema)
  } catch (error) {
    return error
  }
}

describe('a sealed file', () => {
  it('gives back what was sealed', () => {
    fc.assert(
      fc.property(record, (content) => {
        expect(attempt(seal(content))).toEqual(content)
      }),
    )
  })

  it('is recognised as damaged by any cut, and by any other character in its content', () => {
    fc.assert(
      fc.property(record, fc.nat(), fc.integer({ min: 0x21, max: 0x7e }), (content, at, code) => {
        const text = seal(content)
        const cut = text.slice(0, at % (text.trimEnd().length - 1))
        expect(attempt(cut)).toMatchObject({ name: 'SlipwayError', code: 'JournalCorrupt' })
        const place = at % text.length
        const changed = text.slice(0, place) + String.fromCharCode(code) + text.slice(place + 1)
        const found = attempt(changed)
        if (found instanceof SlipwayError) expect(found.code).toBe('JournalCorrupt')
        else expect(found).toEqual(content)
      }),
    )
  })

  it.each([
    { name: 'another shape', text: seal({ epoch: 'x' }), says: 'has the wrong shape' },
    {
      name: 'a newer format',
      text: JSON.stringify({ format: journalFormat + 1 }),
      says: 'a newer version of the agent',
    },
    { name: 'no format', text: '{}', says: 'is not a file of this journal' },
    { name: 'no object', text: 'null', says: 'is not a file of this journal' },
    { name: 'nothing', text: '', says: 'is damaged or half-written' },
  ])('is refused, naming the path: $name', ({ text, says }) => {
    const found = attempt(text)
    expect(found).toMatchObject({ code: 'JournalCorrupt' })
    expect(String(found)).toContain('/x/agent.json')
    expect(String(found)).toContain(says)
  })

  it('can be checked by a person', () => {
    const file = JSON.parse(seal({ epoch: 3, nodeUID: 'u' })) as { sha256: string }
    expect(file.sha256).toBe(sha256('{"epoch":3,"nodeUID":"u"}'))
  })
})
