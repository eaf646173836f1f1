import { describe, expect, it } from 'vitest'
import { chooseProgram, missingProgram, type OfferedProgram, opensSnapshot, versionPrinted } from './etcd-programs.ts'
import { roomNeeded, whyUnproven } from './proof.ts'

describe('the version of a program of etcd', () => {
  it.each([
    ['etcdutl', 'etcdutl version: 3.6.8\nAPI version: 3.6\n', '3.6.8'],
    ['etcd', 'etcd Version: 3.6.8\nGit SHA: 1\n', '3.6.8'],
    ['etcd', 'etcdutl version: 3.6.8\n', undefined],
    ['etcdutl', 'sh: etcdutl: not found', undefined],
  ] as const)('%s says %j', (name, output, version) => {
    expect(versionPrinted(name, output)).toBe(version)
  })
})

describe('a program opens a snapshot', () => {
  it.each([
    ['3.6.8', '3.6.5', true],
    ['3.6.5', '3.6.8', true],
    ['3.6.0', '3.5.21', true],
    ['3.5.21', '3.6.0', false],
    ['3.7.0', '3.5.21', false],
    ['4.0.0', '3.6.0', false],
    ['nonsense', '3.6.0', false],
  ])('%s one of %s: %s', (program, snapshot, opens) => {
    expect(opensSnapshot(program, snapshot)).toBe(opens)
  })
})

describe('the choice', () => {
  const offer = (version: string, from: string): OfferedProgram => ({
    name: 'etcdutl',
    path: `/${from}`,
    version,
    from,
  })

  it('is the first of the snapshot’s own minor version', () => {
    const offers = [offer('3.6.1', 'PATH'), offer('3.5.4', 'image'), offer('3.5.5', 'container')]
    expect(chooseProgram(offers, 'etcdutl', '3.5.9')?.from).toBe('image')
  })

  it('is else one that can open it', () => {
    expect(chooseProgram([offer('3.4.1', 'PATH'), offer('3.6.1', 'image')], 'etcdutl', '3.5.9')?.from).toBe('image')
  })

  it('is none where nothing fits, and says what was found', () => {
    const offers = [offer('3.4.1', 'the PATH')]
    expect(chooseProgram(offers, 'etcdutl', '3.6.8')).toBeUndefined()
    expect(missingProgram(offers, 'etcdutl', '3.6.8')).toContain('3.4.1 (the PATH)')
    expect(missingProgram(offers, 'etcd', '3.6.8')).toContain('no etcd was found')
  })
})

describe('the proof', () => {
  it('wants three times the room', () => expect(roomNeeded(100)).toBe(300))

  it.each([
    ['7', '7', true],
    ['8', '7', true],
    ['6', '7', false],
    ['10', '9', true],
  ])('restored at %s, the manifest says %s', (revision, said, isProven) => {
    const why = whyUnproven({ version: '3.6.8', revision, keys: 1 }, { revision: said })
    expect(why === undefined).toBe(isProven)
  })
})
