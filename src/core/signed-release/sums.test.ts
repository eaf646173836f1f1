import { describe, expect, it } from 'vitest'
import { parseSums, sumsText } from './sums.ts'

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]

describe('SHA256SUMS', () => {
  it('is sorted, whatever the order of the files', () => {
    const sums = [
      { name: 'z.tar', sha256: a },
      { name: 'a.tar', sha256: b },
    ]
    expect(sumsText(sums)).toBe(`${b}  a.tar\n${a}  z.tar\n`)
    expect(parseSums(sumsText(sums))).toEqual(sums.toReversed())
  })

  it.each([
    ['nothing', ''],
    ['a line too many', `${a}  x\n\n`],
    ['no end of line', `${a}  x`],
    ['another order', `${a}  y\n${a}  x\n`],
    ['a file twice', `${a}  x\n${b}  x\n`],
    ['a path', `${a}  ../x\n`],
    ['a hidden file', `${a}  .x\n`],
    ['capitals', `${a.toUpperCase()}  x\n`],
    ['a remark', `# x\n${a}  x\n`],
  ])('is not %s', (_what, text) => {
    expect(parseSums(text)).toBeUndefined()
  })
})
