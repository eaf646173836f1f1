import { describe, expect, it } from 'vitest'
import { chooseBackup, otherCluster, ownClusters } from './backup-choice.ts'

const ours = (name: string) => ({ name, cluster: 'ca-ours' })
const theirs = (name: string) => ({ name, cluster: 'ca-theirs' })

describe('without a name', () => {
  it.each([
    ['the newest of this cluster', [theirs('b3'), ours('b2'), ours('b1')], ['ca-ours'], 'b2'],
    ['by any of its names', [theirs('b3'), { name: 'b2', cluster: '77' }], ['ca-ours', '77'], 'b2'],
    ['the newest where all are of one', [theirs('b3'), theirs('b2')], [], 'b3'],
    ['the newest where none tells', [{ name: 'b1' }], [], 'b1'],
  ])('it is %s', (_, found, own, name) => {
    expect(chooseBackup(found, own)).toMatchObject({ chosen: { name } })
  })

  it.each([
    ['there are several clusters and this one is not known', [ours('b2'), theirs('b1')], [], 'cannot be told'],
    ['there are only those of others', [theirs('b2')], ['ca-ours'], 'no backup of the cluster of this host (ca-ours)'],
    ['those there do not say whose they are', [{ name: 'b1' }], ['ca-ours'], 'an unknown cluster'],
  ])('a person is asked where %s', (_, found, own, said) => {
    expect(chooseBackup(found, own)).toMatchObject({ unclear: expect.stringContaining(said) })
  })

  it('is none where there is none', () => {
    expect(chooseBackup([], ['ca-ours'])).toEqual({ none: true })
  })
})

describe('the cluster of this host', () => {
  it.each([
    ['its authority', 'ca-a', undefined, ['ca-a']],
    ['its authority rather than a note of another', 'ca-a', 'ca-b', ['ca-a']],
    ['its authority, and a note of a backup made without one', 'ca-a', '77', ['ca-a', '77']],
    ['the note alone', undefined, 'ca-b', ['ca-b']],
    ['nothing', undefined, undefined, []],
  ])('is known by %s', (_, authority, note, own) => {
    expect(ownClusters(authority, note)).toEqual(own)
  })

  it('is another one than that of a backup only where both are known', () => {
    expect(otherCluster('ca-b', ['ca-a'])).toBe('ca-b')
    expect(otherCluster('ca-a', ['ca-a'])).toBeUndefined()
    expect(otherCluster(undefined, ['ca-a'])).toBeUndefined()
    expect(otherCluster('ca-b', [])).toBeUndefined()
  })
})
