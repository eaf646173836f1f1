import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { outliveReaders } from './lost-reader.ts'

const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })

function outputs(onlyReads: boolean) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const exits: number[] = []
  outliveReaders({ stdout, stderr }, onlyReads, (code) => exits.push(code))
  return { stdout, stderr, exits }
}

describe('a reader that is gone', () => {
  it.each([
    ['reads', true, [0]],
    ['changes something', false, []],
  ])('a command that %s', (_what, onlyReads, ends) => {
    const { stdout, exits } = outputs(onlyReads)
    stdout.emit('error', closed)
    expect(exits).toEqual(ends)
  })

  it('of messages ends nothing', () => {
    const { stderr, exits } = outputs(true)
    stderr.emit('error', closed)
    expect(exits).toEqual([])
  })

  it('is not the same as a full disk', () => {
    const full = Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' })
    expect(() => outputs(false).stdout.emit('error', full)).toThrow('ENOSPC')
  })
})
