import { describe, expect, test } from 'vitest'
import type { Secret } from '../../api/kube.ts'
import { namedSecret, toldOf } from './secret-versions.ts'

const secret = (resourceVersion: string, data: Readonly<Record<string, string>>): Secret => ({
  metadata: { name: 'token', namespace: 'house', uid: 'u', resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  data,
})
const first = namedSecret(secret('1', { a: 'x', b: 'y' }), undefined, [])

describe('the version of a value', () => {
  test('is of the write that brought it', () => {
    expect([...first.versions]).toEqual([
      ['a', 'u/1'],
      ['b', 'u/1'],
    ])
    expect(toldOf(first, 'a')).toEqual([])
  })

  test('stays through writes that change other things, and goes with the value', () => {
    const second = namedSecret(secret('2', { a: 'x', b: 'z', c: 'x' }), first, [])
    expect(Object.fromEntries(second.versions)).toEqual({ a: 'u/1', b: 'u/2', c: 'u/2' })
    const third = namedSecret(secret('3', { a: 'x', b: 'y' }), second, [])
    expect(Object.fromEntries(third.versions)).toEqual({ a: 'u/1', b: 'u/3' })
  })

  test('is told to the next leader, who believes it for this very write', () => {
    const told = toldOf(namedSecret(secret('2', { a: 'x' }), first, []), 'a')
    expect(told).toEqual([{ secret: 'token', key: 'a', version: 'u/1', writtenAs: 'u/2' }])
    const read = (resourceVersion: string) => namedSecret(secret(resourceVersion, { a: 'x' }), undefined, told)
    expect(read('2').versions.get('a')).toBe('u/1')
    expect(toldOf(read('2'), 'a')).toEqual(told)
    expect(read('3').versions.get('a')).toBe('u/3')
  })
})
