// Kubelets write the time of their own clock into their Lease every ten seconds. A time ahead of ours is that much skew at
// least; one behind is skew only as far as it is older than a Lease of a Ready node can be.

import { nameList } from '../name-list.ts'
import { isReady } from '../node/node-facts.ts'
import { type Check, failed, passed, seeing, warned } from './check.ts'

/** A Ready node has renewed its Lease within this, and it took as long to get here. */
const freshMs = 50_000
const noticeMs = 10_000
/** Certificates are made valid from five minutes before they are signed: beyond that a host cannot use a new one. */
const harmfulMs = 300_000

export const clockSkew: Check = {
  name: 'ClockSkew',
  judge: seeing(
    ({ heartbeats }) => heartbeats,
    ({ at, renewedAt }, { nodes }) => {
      const seen = nodes.filter((node) => isReady(node) && renewedAt.has(node.metadata.name))
      const skewed = seen.flatMap((node) => {
        const renewedMs = new Date(renewedAt.get(node.metadata.name) ?? 0).getTime()
        const skewMs = skewOf(renewedMs - at.getTime())
        return Math.abs(skewMs) < noticeMs ? [] : [{ node: node.metadata.name, skewMs }]
      })
      if (skewed.length === 0) return passed(`the clocks of ${seen.length} nodes agree with ours`)
      const said = nameList(skewed.map(({ node, skewMs }) => `${node} (${wayOff(skewMs)})`))
      // When most clocks are off the same way, it is ours that is wrong.
      const whose = skewed.length * 2 > seen.length ? 'the clock here, or those of' : 'the clocks of'
      const harmful = skewed.some(({ skewMs }) => Math.abs(skewMs) >= harmfulMs)
      return (harmful ? failed : warned)(`${whose} ${said} are wrong; look at their time synchronization`)
    },
  ),
}

function skewOf(aheadMs: number): number {
  return aheadMs > 0 ? aheadMs : Math.min(0, aheadMs + freshMs)
}

function wayOff(skewMs: number): string {
  return `at least ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead' : 'behind'}`
}
