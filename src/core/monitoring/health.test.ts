import { describe, expect, it } from 'vitest'
import type { BackupStoreSpec } from '../../api/backup.ts'
import { type HealthCondition, type HealthView, isSameHealth, judgeHealth } from './health.ts'

const now = new Date('2026-03-01T12:00:00Z')
const well: HealthView = {
  now,
  apiServers: [{ node: 'cp1', ready: true }],
  notReady: [],
  certificates: [{ node: 'cp1', expireAt: '2027-01-01T00:00:00Z' }],
  stores: [],
  records: [],
}
const daily = { name: 'a', schedule: { cron: '0 3 * * *' } } as BackupStoreSpec
const made = (at: string) => ({
  store: 'a',
  lastSuccess: {
    ...{ subject: 's', name: 'n', node: 'cp1', location: 'l', sha256: '', bytes: 1, revision: '1', verified: 'Hash' },
    at,
  } as never,
})
const failed = {
  store: 'a',
  lastFailure: { subject: 's', at: now.toISOString(), reason: { code: 'StoreRefused', message: '' } } as never,
}

const cases: readonly [string, Partial<HealthView>, HealthCondition, 'True' | 'False' | 'Unknown'][] = [
  ['an API server is not ready', { apiServers: [{ node: 'cp1', ready: false }] }, 'ApiServersReady', 'False'],
  [
    'one of two has not said',
    { apiServers: [...well.apiServers, { node: 'b', ready: undefined }] },
    'ApiServersReady',
    'Unknown',
  ],
  ['all have said yes', {}, 'ApiServersReady', 'True'],
  [
    'one has not said, another says no',
    {
      apiServers: [
        { node: 'a', ready: undefined },
        { node: 'b', ready: false },
      ],
    },
    'ApiServersReady',
    'False',
  ],
  ['nobody has said', { apiServers: [{ node: 'cp1', ready: undefined }] }, 'ApiServersReady', 'Unknown'],
  ['all is well', {}, 'NodesReady', 'True'],
  ['a node is not Ready', { notReady: ['w1'] }, 'NodesReady', 'False'],
  ['certificates last', {}, 'CertificatesValid', 'True'],
  ['one runs out', { certificates: [{ node: 'cp1', expireAt: '2026-03-20T00:00:00Z' }] }, 'CertificatesValid', 'False'],
  ['nobody tells of any', { certificates: [] }, 'CertificatesValid', 'Unknown'],
  ['no store has a schedule', {}, 'BackupsRecent', 'Unknown'],
  ['the first turn is to come', { stores: [daily] }, 'BackupsRecent', 'True'],
  ['the first one failed', { stores: [daily], records: [failed] }, 'BackupsRecent', 'False'],
  ['made last night', { stores: [daily], records: [made('2026-03-01T03:00:10Z')] }, 'BackupsRecent', 'True'],
  ['missed once', { stores: [daily], records: [made('2026-02-27T03:00:10Z')] }, 'BackupsRecent', 'True'],
  ['missed three times', { stores: [daily], records: [made('2026-02-26T03:00:10Z')] }, 'BackupsRecent', 'False'],
]

describe('how the cluster is', () => {
  it.each(cases)('%s', (_what, view, type, status) => {
    const found = judgeHealth({ ...well, ...view }).find((condition) => condition.type === type)
    expect(found?.status).toBe(status)
  })

  it('names the API servers of which nobody tells, and what to look at', () => {
    const apiServers = ['a', 'b', 'c'].map((node) => ({ node, ready: node === 'a' || undefined }))
    const [found] = judgeHealth({ ...well, apiServers })
    expect(found?.reason).toBe('NotReported')
    expect(found?.message).toMatch(
      /^nothing is known of the API server of b, c: look at the agent there .*kube-apiserver\.yaml/,
    )
    const [sick] = judgeHealth({ ...well, apiServers: [...apiServers, { node: 'd', ready: false }] })
    expect(sick?.message).toMatch(/^\/readyz says no on d; nothing is known of the API server of b, c/)
  })

  it('is news when others are silent', () => {
    const at = now.toISOString()
    const silent = (...names: readonly string[]) =>
      judgeHealth({
        ...well,
        apiServers: ['a', 'b'].map((node) => ({ node, ready: names.includes(node) ? undefined : true })),
      })
    const known = silent('a', 'b').map((one) => ({ ...one, lastTransitionTime: at }))
    expect(isSameHealth(known, silent('a', 'b'))).toBe(true)
    expect(isSameHealth(known, silent('b'))).toBe(false)
  })

  it('is no news while only the names change', () => {
    const at = now.toISOString()
    const known = judgeHealth({ ...well, notReady: ['w1'] }).map((one) => ({ ...one, lastTransitionTime: at }))
    expect(isSameHealth(known, judgeHealth({ ...well, notReady: ['w2', 'w3'] }))).toBe(true)
    expect(isSameHealth(known, judgeHealth(well))).toBe(false)
  })
})
