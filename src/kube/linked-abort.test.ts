import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { LinkedAbort } from './linked-abort.ts'

describe('a linked signal', () => {
  it('ends with its parent and its reason', () => {
    const parent = new AbortController()
    const { signal } = new LinkedAbort(parent.signal)
    expect(signal.aborted).toBe(false)
    parent.abort('over')
    expect(signal.reason).toBe('over')
  })

  it('has ended where its parent had', () => {
    expect(new LinkedAbort(AbortSignal.abort('over')).signal.reason).toBe('over')
  })

  it('ends by itself, leaves its parent alone and nothing on it', () => {
    const parent = new AbortController()
    const link = new LinkedAbort(parent.signal)
    link.abort('enough')
    expect(link.signal.reason).toBe('enough')
    expect(parent.signal.aborted).toBe(false)
    expect(getEventListeners(parent.signal, 'abort')).toEqual([])
  })
})
