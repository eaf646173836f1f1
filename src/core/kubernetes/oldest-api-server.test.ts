import { describe, expect, it } from 'vitest'
import { sampleAgent, sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { oldestApiServer } from './oldest-api-server.ts'

describe('the oldest API server', () => {
  it.each<[string, Record<string, string | undefined>, string]>([
    ['of none is the one that answered', {}, 'v1.30.0'],
    ['without word is as old as its kubelet', { c1: undefined }, 'v1.35.4'],
    ['of several, whatever the order', { c1: 'v1.36.1', c2: 'v1.9.0', c3: 'v1.36.0' }, 'v1.9.0'],
    ['of one that said something and one that did not', { c1: undefined, c2: 'v1.36.1' }, 'v1.35.4'],
  ])('%s', (_name, versions, oldest) => {
    const nodes = Object.keys(versions).map((name) => sampleNode(name, { controlPlane: true }))
    const stateOf = (name: string) => {
      const apiServer = versions[name]
      return apiServer === undefined ? undefined : sampleState(name, { agent: sampleAgent({ facts: { apiServer } }) })
    }
    expect(oldestApiServer(nodes, stateOf, 'v1.30.0')).toBe(oldest)
  })
})
