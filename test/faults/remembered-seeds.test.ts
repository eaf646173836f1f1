// Histories that once went wrong. The code around them has changed since and so may what happens in them; they stay all the
// same, each with what it showed.

import { describe, expect, it } from 'vitest'
import { drawHistory, type FaultDraw } from '../../src/main/simulation/fault-history.ts'
import { faultRun } from '../../src/main/simulation/fault-run.ts'
import { faultKinds } from '../../src/sim/fault-plan.ts'

describe('histories that once went wrong', () => {
  it.each([
    [68, 'an emergency stop between decision and write was overlooked'],
    [355, 'what a refused eviction had set aside was never freed'],
    [511, 'a slot returned by a write that seemed to fail was never told of'],
    [1960, 'a watch that was over hid what the next one brought'],
    [3392, 'nodes were taken for an update that was gone'],
    [241, 'the end of a staged order hid that the next one had staged'],
    [2774, 'workers that had staged kept the control plane from staging'],
    [603, 'a slot booked by a write that seemed to fail did not count against the strategy'],
    [237, 'the judge took a clean-up that follows the end of a retried update for missing'],
    [761, 'control-plane nodes that had staged kept the first of them from staging'],
    [978, 'a hook whose end was written by a write that seemed to fail kept every node'],
    [6080, 'an update whose end was written by a write that seemed to fail began its next wave'],
    [9674, 'a clock that is behind kept nodes of the cluster from a profile'],
    [12162, 'a clock that is behind made nodes of the cluster ones that joined later'],
    [1991, 'an OS image was asked for over two minor versions, which is refused'],
    [12724, 'a leader that was none any more woke itself for ever'],
    [14400, 'the backup of an update that was planned again was forgotten'],
    [95365, 'the judge waited for the end of an update that a gate had failed before it was cancelled'],
    [70144, 'a backup that was young enough again, by a clock that was put back, woke nobody who waited for one'],
    [41250, 'the judge took a cordon that came and went over staged work for that of the work'],
    [
      48349,
      'a node that failed in the first step of a path, and that another update had finished, was brought back by a retry',
    ],
    [67978, 'the slot of a dead node that was uncordoned and tried again went to and fro without end'],
    [57976, 'a hook was begun again beside its own clean-up'],
    [34570, 'the judge counted a node by a label that came back in the moment it was granted'],
    [35182, 'scheduled backups took the host while a gate was looked at, and with it each window'],
    [19616, 'scheduled backups took the host, and the window, from the backup of an update'],
  ])('seed %i: %s', async (seed) => {
    expect(await violationsOf(seed, {})).toEqual([])
  })

  it('seed 417 of six nodes: a backup that was no longer wanted kept its host from the one that was', async () => {
    expect(await violationsOf(417, { nodes: 6 })).toEqual([])
  })

  it.each([
    [195, 'an update that only its own failed node kept up called for nobody'],
    [356, 'an update that was cancelled went on asking for an approval'],
    [363, 'the tag of an image was looked up twice where the first record seemed to fail'],
    [625, 'a node that a person had put back was told to be under maintenance for ever'],
    [1690, 'a node on its way back was granted as if it were away, beyond the budget of its zone'],
    [6668, 'the lock of kured was taken for ours after a return that nobody answered'],
    [59, 'a node was never brought back to what its profile had wanted before'],
    [55, 'a profile that takes a drain was taken away without one'],
    [823, 'a node that was done was staged for ever after somebody deleted its NodeState'],
    [2081, 'a node whose NodeState was being deleted was given orders that nobody obeys'],
    [22987, 'an agent that died never told the end of an order whose NodeState was being deleted'],
    [891, 'a host under maintenance was uncordoned after somebody deleted its NodeState'],
  ])('crowded seed %i: %s', async (seed) => {
    expect(await violationsOf(seed, { crowded: true })).toEqual([])
  })
})

async function violationsOf(seed: number, draw: Omit<FaultDraw, 'kinds'>): Promise<readonly unknown[]> {
  const history = drawHistory(seed, { kinds: faultKinds, ...draw })
  return (await faultRun(history, '0.0.0', new AbortController().signal)).violations
}
