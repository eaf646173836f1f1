import { describe, expect, it } from 'vitest'
import { hasRun, restoreIdOf, whyNoRestoreId } from './restore-id.ts'

describe('the id of a restore', () => {
  it('is drawn from a uuid in the form that is taken', () => {
    const id = restoreIdOf('01234567-89AB-4cde-8f01-23456789abcd')
    expect(id).toBe('8f0123456789abcd')
    expect(whyNoRestoreId(id)).toBeUndefined()
  })

  it.each(['', 'latest', '8f0123456789abc', '8f0123456789abcde', '8F0123456789ABCD', '8f0123456789abc '])(
    'is not "%s"',
    (text) => {
      expect(whyNoRestoreId(text)).toContain('is no id of a restore')
    },
  )

  it('is used up where a member of that restore was started', () => {
    const past = [
      { restoreId: 'a', begun: ['Stop', 'StartEtcd'] as const },
      { restoreId: 'b', begun: ['Stop'] as const },
    ]
    const all = past.map(({ restoreId, begun }) => ({ restoreId, begun: [...begun] }))
    expect(['a', 'b', 'c'].map((id) => hasRun(all, id))).toEqual([true, false, false])
  })
})
