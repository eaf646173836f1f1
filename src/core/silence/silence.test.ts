import { describe, expect, it } from 'vitest'
import { silenceSchema, silencesSchema } from '../../api/silence.ts'
import { lapseMs, ownerOf, silenceBody } from './silence.ts'

const now = new Date('2026-03-01T12:00:00Z')
const owner = { cluster: 'uid-1', entry: 'silence', node: 'w1.example.org' }
const url = 'http://alertmanager:9093'

describe('a silence', () => {
  it('names the node, as text and inside a regular expression', () => {
    const spec = { url, matchers: ['node="{node}"', 'instance=~"{node}(:[0-9]+)?"', 'severity!="page"'] }
    const body = JSON.parse(silenceBody(spec, owner, now, undefined))
    expect(body).toMatchObject({ startsAt: '2026-03-01T12:00:00.000Z', endsAt: '2026-03-01T12:05:00.000Z' })
    expect(body.matchers).toEqual([
      { name: 'node', value: 'w1.example.org', isRegex: false, isEqual: true },
      { name: 'instance', value: 'w1\\.example\\.org(:[0-9]+)?', isRegex: true, isEqual: true },
      { name: 'severity', value: 'page', isRegex: false, isEqual: false },
    ])
    expect(body).not.toHaveProperty('id')
    const known = { id: 'known', startsAt: '2026-03-01T11:00:00.000Z' }
    expect(JSON.parse(silenceBody(spec, owner, now, known))).toMatchObject(known)
  })

  it('is found again by whoever leads next, and by nobody else', () => {
    const { comment, createdBy } = JSON.parse(silenceBody({ url, matchers: ['node="{node}"'] }, owner, now, undefined))
    const found = { id: '1', createdBy, comment, startsAt: '', endsAt: '', status: { state: 'active' } }
    expect(ownerOf(found, 'uid-1')).toEqual(owner)
    expect(ownerOf(found, 'uid-2')).toBeUndefined()
    expect(ownerOf({ ...found, createdBy: 'ana' }, 'uid-1')).toBeUndefined()
    expect(ownerOf({ ...found, status: { state: 'expired' } }, 'uid-1')).toBeUndefined()
  })

  it('lasts a minute at least', () => {
    expect(lapseMs({ url, matchers: [], lapseAfter: '5s' })).toBe(60_000)
    expect(lapseMs({ url, matchers: [], lapseAfter: '20m' })).toBe(1_200_000)
  })

  it.each([['severity="warning"'], ['node!="{node}"'], ['node="{node}'], ['node="a\\"b{node}"']])(
    'with only %s is refused: it would silence every node, or cannot be read',
    (matcher) => {
      expect(silenceSchema.safeParse({ url, matchers: [matcher] }).success).toBe(false)
    },
  )

  it('has a name of its own', () => {
    const spec = { url, matchers: ['node="{node}"'] }
    expect(silencesSchema.safeParse([spec, { ...spec, name: 'other' }]).success).toBe(true)
    expect(silencesSchema.safeParse([spec, { ...spec, name: 'silence' }]).success).toBe(false)
  })
})
