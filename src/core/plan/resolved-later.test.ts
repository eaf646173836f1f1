import { describe, expect, it } from 'vitest'
import type { DirectUpdate, DirectUpdateSpec, DirectUpdateStatus } from '../../api/direct-update.ts'
import type { PlanRun } from './plan-report.ts'
import { type LaterView, resolvedLater, withOpenVersion } from './resolved-later.ts'

const update = (name: string, spec: DirectUpdateSpec, status: DirectUpdateStatus): DirectUpdate => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  status,
})
const said = (view: Partial<LaterView>) => resolvedLater({ spec: {}, path: undefined, updates: [], ...view })
const digest = (letter: string) => `sha256:${letter.repeat(64)}`

describe('an OS image', () => {
  const tag = 'registry.example/os:42'
  const resolved = (name: string, image: string, letter: string, resolvedAt: string) =>
    update(
      name,
      { os: { image } },
      { osImage: { image, reference: image, digest: digest(letter), resolvedAt, instances: [] } },
    )

  it.each([tag, 'registry.example/os:4.*'])('%s is looked up later', (image) => {
    expect(said({ spec: { os: { image } } })).toEqual([
      `which digest ${image} names is looked up in the registry when the update starts`,
    ])
  })

  it('by digest is what it is', () => {
    expect(said({ spec: { os: { image: `registry.example/os@${digest('a')}` } } })).toEqual([])
    expect(said({ spec: { os: { packages: 'All' } } })).toEqual([])
  })

  it('was something for those who named it before: the last of them', () => {
    const updates = [
      resolved('old', tag, 'a', '2026-01-01T00:00:00Z'),
      resolved('last', tag, 'b', '2026-03-01T00:00:00Z'),
      resolved('older', tag, 'c', '2026-02-01T00:00:00Z'),
      resolved('other', 'registry.example/os:43', 'd', '2026-04-01T00:00:00Z'),
    ]
    const [sentence] = said({ spec: { os: { image: tag } }, updates })
    expect(sentence).toContain(`for DirectUpdate last it was ${tag}, ${digest('b')}, at 2026-03-01T00:00:00Z`)
  })
})

describe('a version', () => {
  const of = (version: string, path?: LaterView['path']) => said({ spec: { kubernetes: { version } }, path })

  it.each<[string, LaterView['path'], string | undefined]>([
    ['v1.36.3', undefined, undefined],
    ['latest', undefined, 'which version latest is, is found out when the update starts'],
    ['1.37.*', undefined, 'which version 1.37.* is, is found out when the update starts'],
    ['latest', { target: 'v1.36.3', source: 'Hosts' }, 'latest is v1.36.3 by what is known here'],
    ['1.36.*', { target: 'v1.36.3', source: 'Hosts' }, undefined],
    ['1.36.*', { target: 'v1.36.3', source: 'ConfigMap' }, '1.36.* is v1.36.3 by what is known here'],
  ])('%s, known as %o: %s', (version, path, sentence) => {
    expect(of(version, path)).toEqual(sentence === undefined ? [] : [expect.stringContaining(sentence)])
  })

  it('from a bundle has no registry to ask', () => {
    const bundleAt = (url: string) => ({ bundle: { url, sha256: 'a'.repeat(64) } })
    const latest = { kubernetes: { version: 'latest' } }
    expect(said({ spec: { ...latest, airGapped: bundleAt('/srv/b.tar') } })).toEqual([])
    expect(said({ spec: { ...latest, airGapped: bundleAt('https://x.example/b') } })).toEqual([
      'which version latest is, is found out when the update starts: the bundle is read then',
    ])
  })

  it('was something for those who asked for it before', () => {
    const path = { current: 'v1.35.4', target: 'v1.36.3', steps: ['v1.36.3'], step: 0, workers: [0] }
    const updates = [
      update('spring', { kubernetes: { version: 'latest' } }, { path, startedAt: '2026-03-01T00:00:00Z' }),
      update('named', { kubernetes: { version: 'v1.36.2' } }, { path, startedAt: '2026-04-01T00:00:00Z' }),
    ]
    const [sentence] = said({ spec: { kubernetes: { version: 'latest' } }, updates })
    expect(sentence).toContain('for DirectUpdate spring it was v1.36.3')
  })

  it('that only a registry may know is no certain refusal', () => {
    const blocker = { key: 'VersionUnknown', code: 'VersionUnknown', message: 'nothing fits', lasting: true } as const
    const other = { key: 'NoNodes', code: 'NoNodes', message: 'none', lasting: true } as const
    const run: PlanRun = {
      ...{ phase: 'Pending', startedMs: 0, durationMs: 0, taken: [], near: [], unplaced: new Map(), steps: [] },
      blockers: [blocker, other],
    }
    const spec = { kubernetes: { version: '1.37.*' } }
    expect(withOpenVersion(run, { spec, path: undefined }).blockers).toEqual([{ ...blocker, lasting: false }, other])
    expect(withOpenVersion(run, { spec: { kubernetes: { version: 'v1.37.0' } }, path: undefined })).toEqual(run)
  })

  it('nor is a way that only a registry may know, unless a bundle on the hosts holds all there is', () => {
    const fault = { code: 'VersionSkipsMinor', message: 'no version of v1.36', lasting: false, unlisted: true } as const
    const blocker = { key: fault.code, code: fault.code, message: fault.message, lasting: true }
    const run: PlanRun = {
      ...{ phase: 'Pending', startedMs: 0, durationMs: 0, taken: [], near: [], unplaced: new Map(), steps: [] },
      blockers: [blocker],
    }
    const spec = { kubernetes: { version: 'v1.37.0' } }
    const lasting = (more: object) => {
      const view = { spec, path: undefined, fault, ...more }
      return withOpenVersion(run, view).blockers.map((one) => one.lasting)
    }
    expect(lasting({})).toEqual([false])
    const { unlisted: _, ...other } = fault
    expect(lasting({ fault: other })).toEqual([true])
    const bundleAt = (url: string) => ({ spec: { ...spec, airGapped: { bundle: { url, sha256: 'a'.repeat(64) } } } })
    expect(lasting(bundleAt('https://x.example/b'))).toEqual([false])
    expect(lasting(bundleAt('/srv/b.tar'))).toEqual([true])
  })
})
