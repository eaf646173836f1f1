import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseLibraries } from '../image/image-files.ts'
import { readElf } from './elf.ts'

describe('an ELF file', () => {
  it('names the loader and the libraries that ldd finds', () => {
    const elf = readElf(readFileSync(process.execPath))
    expect(elf?.architecture).toBe(process.arch === 'x64' ? 'amd64' : process.arch)
    const found = parseLibraries(execFileSync('ldd', [process.execPath]).toString()).map((path) => basename(path))
    expect(found).toEqual(expect.arrayContaining([basename(elf?.interpreter ?? ''), ...(elf?.needed ?? [])]))
    expect(elf?.needed).toContain('libc.so.6')
  })

  it.each([
    ['a script', Buffer.from(`#!/bin/sh\n${'x'.repeat(100)}`)],
    ['nothing', Buffer.alloc(0)],
    ['one of 32 bits', Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 1]), Buffer.alloc(100)])],
  ])('is not %s', (_what, content) => {
    expect(readElf(content)).toBeUndefined()
  })
})
