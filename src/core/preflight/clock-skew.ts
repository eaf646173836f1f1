// Kubelets write the time of their own clock into their Lease every ten seconds. A time ahead of ours is that much skew at
// least; one behind is skew only as far as it is older than a Lease of a Ready node can be. Of a node without a Lease nobody
// knows the clock.

import type { Node } from '../../api/kube.ts'
import { nameList } from '../name-list.ts'
import { isReady } from '../node/node-facts.ts'
import { type Check, type CheckView, type Finding, failed, namesOf, passed, seeing, warned } from './check.ts'
import type { Heartbeats } from './sights.ts'

/** A Ready node has renewed its Lease within this, and it took as long to get here. */
const freshMs = 50_000
const noticeMs = 10_000
/** Certificates are made valid from five minutes before they are signed: beyond that a host cannot use a new one. */
const harmfulMs = 300_000

export const clockSkew: Check = {
  name: 'ClockSkew',
  judge: seeing(
    ({ heartbeats }) => heartbeats,
    (heartbeats, view) => {
      const { told = [], silent = [] } = Object.groupBy(view.nodes.filter(isReady), ({ metadata }) =>
        heartbeats.renewedAt.has(metadata.name) ? 'told' : 'silent',
      )
      const findings = [skewFinding(told, heartbeats), silentFinding(silent, view)].filter((one) => one !== undefined)
      if (findings.length === 0) return passed(`the clocks of ${told.length} nodes agree with ours`)
      const worst = findings.some(({ result }) => result === 'Failed') ? failed : warned
      return worst(findings.map(({ message }) => message).join('; '))
    },
  ),
}

function skewFinding(told: readonly Node[], { at, renewedAt }: Heartbeats): Finding | undefined {
  const skewed = told.flatMap(({ metadata: { name } }) => {
    const skewMs = skewOf(new Date(renewedAt.get(name) ?? 0).getTime() - at.getTime())
    return Math.abs(skewMs) < noticeMs ? [] : [{ name, skewMs }]
  })
  if (skewed.length === 0) return undefined
  const said = nameList(skewed.map(({ name, skewMs }) => `${name} (${wayOff(skewMs)})`))
  // When most clocks are off the same way, it is ours that is wrong.
  const whose = skewed.length * 2 > told.length ? 'the clock here, or those of' : 'the clocks of'
  const harmful = skewed.some(({ skewMs }) => Math.abs(skewMs) >= harmfulMs)
  return (harmful ? failed : warned)(`${whose} ${said} are wrong; look at their time synchronization`)
}

/** What poses as a node without a kubelet may have no Lease for good; it holds up only an update of its own. */
function silentFinding(silent: readonly Node[], { selected }: CheckView): Finding | undefined {
  if (silent.length === 0) return undefined
  const names = nameList(namesOf(silent))
  const chosen = new Set(selected)
  if (!silent.some((node) => chosen.has(node))) {
    return warned(`the clocks of ${names} are not known, there is no Lease; this update touches nothing there`)
  }
  return failed(
    `the clocks of ${names} are not known: without a Lease in kube-node-lease nothing tells of them; look at the kubelet there, or look at the clocks and skip ClockSkew`,
  )
}

function skewOf(aheadMs: number): number {
  return aheadMs > 0 ? aheadMs : Math.min(0, aheadMs + freshMs)
}

function wayOff(skewMs: number): string {
  return `at least ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead' : 'behind'}`
}
