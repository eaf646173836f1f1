import { describe, expect, it } from 'vitest'
import { leftOut, rehearsable } from './rehearsable.ts'

describe('an OS image in a rehearsal', () => {
  it('that is named by a pattern is some image: no registry is asked for the newest', () => {
    const { os } = rehearsable({ os: { image: 'registry.example/os:1.*', verify: { key: 'k' } } })
    expect(os).toEqual({ image: 'registry.example/os:1.x', verify: { key: 'k' } })
  })

  it.each(['registry.example/os:1.2', undefined])('%s stays as it is', (image) => {
    const os = image === undefined ? { packages: 'All' as const } : { image }
    expect(rehearsable({ os }).os).toEqual(os)
  })

  it('is said to be needed by all', () => {
    expect(leftOut([], { os: { image: 'registry.example/os:1.*' } }).join()).toContain('the registry is not asked')
    expect(leftOut([], { os: { packages: 'All' } })).toEqual([])
  })
})
