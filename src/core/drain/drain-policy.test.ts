import { describe, expect, it } from 'vitest'
import { drainOf } from './drain-policy.ts'

describe('how an operation drains', () => {
  it('has defaults', () => {
    expect(drainOf(undefined, undefined)).toEqual({
      timeoutMs: 1_800_000,
      onTimeout: 'Hold',
      unmanagedPods: 'Block',
      emptyDir: 'Delete',
      volumeTimeoutMs: 600_000,
      rules: [],
    })
  })

  it('takes the policy’s settings, and the update’s own over them', () => {
    const policy = { timeout: '1h', onTimeout: 'Force', emptyDir: 'Block', podGracePeriod: '1m' } as const
    expect(drainOf(policy, { onTimeout: 'Abort', volumeTimeout: '90s' })).toMatchObject({
      timeoutMs: 3_600_000,
      onTimeout: 'Abort',
      emptyDir: 'Block',
      podGraceSeconds: 60,
      volumeTimeoutMs: 90_000,
    })
  })

  it('tries the update’s rules before the policy’s, and keeps both', () => {
    const skip = { action: 'Skip' } as const
    const evict = { action: 'Evict' } as const
    expect(drainOf({ rules: [skip] }, { rules: [evict] }).rules).toEqual([evict, skip])
    expect(drainOf({ rules: [skip] }, {}).rules).toEqual([skip])
  })
})
