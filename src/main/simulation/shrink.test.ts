import { describe, expect, it } from 'vitest'
import { faultKinds } from '../../sim/fault-plan.ts'
import { noExtras } from './fault-extras.ts'
import { drawHistory, type FaultHistory } from './fault-history.ts'
import { leaveOut, partsOf } from './fault-parts.ts'
import type { FaultRunResult } from './fault-run.ts'
import { shrink } from './shrink.ts'

const { signal } = new AbortController()

/** With a crash that strikes three times, and more around it. */
const drawn = drawHistory(2, { kinds: faultKinds })
const history: FaultHistory = {
  ...drawn,
  scenario: {
    ...drawn.scenario,
    meddling: 'pause',
    kured: true,
    extras: { ...noExtras, profile: 'Drain', maintained: 'w1' },
  },
  plan: {
    ...drawn.plan,
    chances: {
      'crash-before-write': { rate: 1, limit: 3, fromMs: 0, spared: [] },
      conflict: { rate: 1, limit: 2, fromMs: 0, spared: [] },
    },
    events: [{ kind: 'power-loss', atMs: 0, forMs: 1, node: 'w2', busy: false, amount: 1 }],
  },
}

/** Strikes as the plan says; breaks rule 4 where the second crash strikes in a cluster with a profile. */
function play({ seed, scenario, plan }: FaultHistory): Promise<FaultRunResult> {
  const crash = plan.chances['crash-before-write']
  const strikes = crash ? [1, 2, 3].filter((strike) => !crash.spared.includes(strike)) : []
  const isBroken = strikes.includes(2) && scenario.extras.profile !== undefined
  return Promise.resolve({
    seed,
    violations: isBroken ? [{ rule: '4', message: 'twice' }] : [{ rule: '6', message: 'another matter' }],
    hits: strikes.map((strike) => ({
      kind: 'crash-before-write' as const,
      phase: 'none',
      atMs: strike,
      where: 'operator',
    })),
    writes: 1,
  })
}

describe('shrinking', () => {
  it('leaves nothing but what breaks that rule', async () => {
    const { history: shortest, without } = await shrink(history, await play(history), '4', play, signal)
    expect(partsOf(shortest, [])).toEqual(['crash-before-write', 'profile'])
    expect(shortest.plan.chances['crash-before-write']?.spared).toEqual([1, 3])
    expect(shortest.scenario.nodes).toHaveLength(4)
    expect(without.reduce(leaveOut, history)).toEqual(shortest)
  })

  it('names the parts there are when asked for one that is not', () => {
    expect(() => leaveOut(history, 'no-such-part')).toThrow('has no part "no-such-part"')
  })
})
