import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeAuthority } from '../../../test/bed/certificates.ts'
import { clusterIdentity } from './cluster-identity.ts'

const [one, other] = ['etcd-ca', 'etcd-ca'].map((name) => makeAuthority(name).certificate)

describe('the cluster a backup is of', () => {
  it('is told by the authority of its etcd, whatever etcd calls itself', () => {
    const sum = new X509Certificate(one ?? '').fingerprint256.replaceAll(':', '').toLowerCase()
    expect(clusterIdentity(one, '9')).toBe(`ca-${sum.slice(0, 16)}`)
    expect(clusterIdentity(one, '8')).toBe(clusterIdentity(one, '9'))
    expect(clusterIdentity(other, '9')).not.toBe(clusterIdentity(one, '9'))
  })

  it('does not hang on how the file is written, nor on what is appended to it', () => {
    const written = `# of etcd\r\n${one?.replaceAll('\n', '\r\n')}\n${other}`
    expect(clusterIdentity(written)).toBe(clusterIdentity(one))
  })

  it.each([
    ['without an authority', undefined, '9', '9'],
    ['with a file that holds none', 'nothing', '9', '9'],
    ['where etcd does not tell', undefined, '0', undefined],
    ['where nothing tells', undefined, undefined, undefined],
  ])('is told %s', (_, ca, id, told) => {
    expect(clusterIdentity(ca, id)).toBe(told)
  })
})
