import { describe, expect, it } from 'vitest'
import { askedText, noOffers, offeredOf, offerOf, offerOfHosts } from './offers.ts'

describe('what is on offer', () => {
  const hosts = offerOfHosts([['v1.35.4', 'v1.35.6', 'v1.36.1'], ['v1.35.6', 'v1.35.7'], [], ['1.36.1', 'no version']])

  it('of hosts: what all who speak of a minor version have', () => {
    expect([...hosts.byMinor]).toEqual([
      ['1.35', ['v1.35.6']],
      ['1.36', ['v1.36.1']],
    ])
  })

  it('is told by the first who speaks of that minor version', () => {
    const offers = {
      lists: [
        hosts,
        offerOf('Registry', ['v1.36.9', 'v1.37.0', 'latest']),
        offerOf('ConfigMap', ['v1.37.9', ' 1.38.0 ']),
      ],
      silent: [],
    }
    expect(offeredOf(offers, 1, 36)).toEqual({ source: 'Hosts', versions: ['v1.36.1'] })
    expect(offeredOf(offers, 1, 37)).toEqual({ source: 'Registry', versions: ['v1.37.0'] })
    expect(offeredOf(offers, 1, 38)).toEqual({ source: 'ConfigMap', versions: ['v1.38.0'] })
    expect(offeredOf(offers, 1, 39)).toBeUndefined()
  })

  it('hosts that share none of a minor version have none, whatever others say', () => {
    const apart = offerOfHosts([['v1.36.1'], ['v1.36.2']])
    const offers = { lists: [apart, offerOf('ConfigMap', ['v1.36.2'])], silent: [] }
    expect(offeredOf(offers, 1, 36)).toEqual({ source: 'Hosts', versions: [] })
  })

  it('says who was asked', () => {
    expect(askedText({ lists: [hosts], silent: ['the registry is away'] })).toBe(
      'asked: the hosts’ package index; the registry is away',
    )
    expect(askedText(noOffers)).toBe('nobody was asked')
  })
})
