// Laws of one node's life over random histories: pods leave, agents answer, people cordon, the operator crashes, the ledger
// is lost, the update is deleted; after each event the decisions are carried out until one waits, as the operator does it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePatched } from '../../../test/samples/merge-patched.ts'
import { at, type Given, id, mayRun, report, start, viewOf } from '../../../test/samples/node-views.ts'
import type { Node } from '../../api/kube.ts'
import type { AgentOrder, Order, Rollout } from '../../api/node-state.ts'
import { isBroken } from '../update/retry.ts'
import { decideNode } from './decide-node.ts'
import { cordonAnnotation } from './node-facts.ts'
import { marksAnnotation, type NodeChange, puttingBackChange, takingChange } from './node-marks.ts'
import type { NodeAction } from './node-view.ts'

const events = [
  'podLeaves',
  'agentAnswers',
  'agentFails',
  'agentNeedsPerson',
  'kubeletBeats',
  'nodeFalls',
  'nodeRises',
  'personCordons',
  'personUncordons',
  'personReleases',
  'operatorCrashes',
  'ledgerLost',
  'slotGranted',
  'updateDeleted',
  'timePasses',
] as const

class World {
  cordoned = false
  mark: string | undefined
  marked = false
  /** The cordon that stands was made by a person. */
  persons = false
  ready = true
  kubelet = 'v1.35.4'
  beat: string | undefined
  rollout: Rollout | undefined
  order: Order | undefined
  answer: AgentOrder | undefined
  granted = true
  wanted = true
  pods = 2
  watchesPods = false
  watchesLease = false
  watchesControllers = false
  asksGates = false
  now = 1
  grace = 0
  readonly orders = new Set<string>()
  readonly actions: string[] = []

  get view(): Given {
    const { cordoned, mark, marked, ready, kubelet, beat, rollout, order, answer, pods, now, grace } = this
    const reason = { code: 'PodDisruptionBudget', message: 'waits' } as const
    const blocked = [{ pod: 'shop/a', state: 'Blocked' as const, reason }]
    // An operation that is still wanted keeps what became of a node that did not go well with it, as the operator tells it.
    const remembered = this.wanted && !this.granted && rollout !== undefined && isBroken(rollout.phase)
    return {
      node: {
        cordoned,
        marked,
        kubelet,
        ready: ready ? 'True' : 'False',
        ...(mark !== undefined && { mark }),
        ...(beat !== undefined && { heartbeat: beat }),
      },
      grant: this.granted ? id : null,
      gone: !this.wanted,
      staging: remembered,
      now,
      grace,
      ...(rollout && { rollout }),
      ...(order && { order }),
      ...(answer && { report: answer }),
      ...(this.watchesPods && { drain: { total: 2, left: pods, blocked: pods > 1 ? blocked : [] } }),
      ...(this.watchesControllers && { controllers: { lease: 'none' as const } }),
      ...(this.watchesLease && { lease: beat ?? at(-1000) }),
    }
  }

  /** Decides and does until there is something to wait for. */
  settle(): void {
    for (let turn = 0; turn < 12; turn++) {
      const decision = decideNode(viewOf(this.view))
      this.actions.push(decision.action)
      if (decision.action === 'wait') {
        if (decision.untilMs !== undefined) expect(decision.untilMs).toBeGreaterThan(start + this.now * 1000)
        return
      }
      this.#perform(decision)
    }
    expect.fail(`no end of decisions: ${this.actions.slice(-12).join(', ')}`)
  }

  #perform(decision: NodeAction): void {
    switch (decision.action) {
      case 'cordon':
        expect(this.granted, 'nothing is touched without a slot').toBe(true)
        this.#change((node) => takingChange(node, id, false))
        expect(this.cordoned).toBe(true)
        expect(this.persons && this.mark !== undefined, 'a cordon that stands is not claimed').toBe(false)
        break
      case 'uncordon':
        expect(this.mark ?? this.marked, 'only what is marked is put back').toBeTruthy()
        expect(this.wanted && this.granted && this.rollout?.phase === 'Failed', 'a failed node stays cordoned').toBe(
          false,
        )
        expect(mayRun(this.order, this.answer), 'nobody is put back under a running order').toBe(false)
        this.#change(puttingBackChange)
        expect(this.cordoned, "a person's cordon is never removed, ours always").toBe(this.persons)
        break
      case 'setRollout':
        this.rollout = decision.rollout
        break
      case 'setOrder':
        this.#write(decision.order)
        break
      case 'dropOrder':
        expect(this.order?.desired, 'only what never ran is dropped').toBe('Stage')
        this.order = undefined
        break
      case 'clear':
        expect(mayRun(this.order, this.answer), 'an order that may run is not forgotten').toBe(false)
        this.order = undefined
        this.rollout = undefined
        break
      case 'returnGrant':
        expect(mayRun(this.order, this.answer), 'a slot stays while the order may run').toBe(false)
        this.granted = false
        break
      case 'regrant':
        expect(this.granted).toBe(false)
        this.granted = true
        break
      case 'watchPods':
        this.watchesPods = true
        break
      case 'watchControllers':
        this.watchesControllers = true
        break
      case 'watchLease':
        this.watchesLease = true
        break
      case 'setHooks':
      case 'startHook':
        expect.fail('no hook is asked for')
        break
      case 'askGates':
        expect(this.cordoned, 'gates are asked while the node is still away').toBe(true)
        this.asksGates = true
        break
      case 'wait':
        break
    }
  }

  #change(make: (node: Node) => NodeChange): void {
    const { node } = viewOf(this.view)
    const { metadata, spec } = mergePatched(node, make(node))
    this.cordoned = spec.unschedulable === true
    this.mark = metadata.annotations?.[cordonAnnotation]
    this.marked = metadata.annotations?.[marksAnnotation] !== undefined
  }

  #write(order: Order): void {
    if (order.desired === 'Withdraw') {
      expect(order.id).toBe(this.order?.id)
    } else {
      expect(this.cordoned, 'work starts on a cordoned node').toBe(true)
      expect(this.pods, 'work starts on a drained node').toBe(0)
      expect(mayRun(this.order, this.answer), 'one order at a time').toBe(false)
      expect(this.orders, 'an id names one order').not.toContain(order.id)
      this.orders.add(order.id)
    }
    this.order = order
  }

  happen(event: (typeof events)[number]): void {
    this.now++
    switch (event) {
      case 'podLeaves':
        this.pods = Math.max(0, this.pods - 1)
        break
      case 'agentAnswers':
        this.#agentAnswers()
        break
      case 'agentFails':
        if (this.order && mayRun(this.order, this.answer)) this.answer = report('Failed', { id: this.order.id })
        break
      case 'agentNeedsPerson':
        if (this.order && mayRun(this.order, this.answer))
          this.answer = report('RequiresAttention', { id: this.order.id })
        break
      case 'kubeletBeats':
        if (this.ready) this.beat = at(this.now)
        break
      case 'nodeFalls':
        this.ready = false
        break
      case 'nodeRises':
        this.ready = true
        this.beat = at(this.now)
        break
      case 'personCordons':
        if (!this.cordoned) this.persons = this.mark === undefined
        this.cordoned = true
        break
      case 'personUncordons':
        this.cordoned = false
        this.persons = false
        break
      case 'personReleases':
        // As slipway release does: not while the agent works.
        if (this.mark === undefined || !this.marked) break
        if (mayRun(this.order, this.answer) && this.answer?.state !== 'RequiresAttention') break
        this.#change(puttingBackChange)
        break
      case 'operatorCrashes':
        this.watchesPods = false
        this.watchesLease = false
        this.watchesControllers = false
        this.grace = this.now + 60
        break
      case 'ledgerLost':
        this.granted = false
        break
      case 'slotGranted':
        if (this.wanted && this.ready && this.rollout === undefined) this.granted = true
        break
      case 'updateDeleted':
        this.wanted = false
        break
      case 'timePasses':
        this.now += 2000
        break
    }
  }

  #agentAnswers(): void {
    const { order } = this
    if (!order || !mayRun(order, this.answer)) return
    if (order.desired === 'Withdraw') this.answer = report('Withdrawn', { id: order.id })
    else if (this.answer?.id !== order.id) this.answer = report('Accepted', { id: order.id })
    else if (this.answer.state === 'Accepted') this.answer = report('Running', { id: order.id })
    else {
      this.kubelet = 'v1.36.3'
      this.answer = report('Succeeded', { id: order.id, kubeletRestartedAt: at(this.now) })
    }
  }
}

const history = fc.array(fc.constantFrom(...events), { maxLength: 40 })
const run = (happened: readonly (typeof events)[number][], without: readonly string[] = []): World => {
  const world = new World()
  world.settle()
  for (const event of happened) {
    if (without.includes(event)) continue
    world.happen(event)
    world.settle()
  }
  return world
}

describe("the laws of a node's life", () => {
  it('hold over any history, and a deleted update leaves nothing behind', () => {
    fc.assert(
      fc.property(history, (happened) => {
        const world = run(happened)
        for (const event of ['updateDeleted', 'agentAnswers'] as const) {
          world.happen(event)
          world.settle()
        }
        expect(world.granted).toBe(false)
        expect(world).toMatchObject({ mark: undefined, marked: false })
        expect([undefined, 'Done']).toContain(world.rollout?.phase)
        if (world.persons) expect(world.cordoned).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('a node that nobody breaks is done, whatever happens on the way', () => {
    const breakers = ['agentFails', 'agentNeedsPerson', 'updateDeleted']
    fc.assert(
      fc.property(history, (happened) => {
        const world = run(happened, breakers)
        const helpers = [
          'nodeRises',
          'slotGranted',
          'podLeaves',
          'podLeaves',
          'agentAnswers',
          'agentAnswers',
          'agentAnswers',
        ]
        for (const event of [...helpers, 'kubeletBeats'] as typeof happened) {
          world.happen(event)
          world.settle()
        }
        expect(world.rollout?.phase).toBe('Done')
        expect(world.granted).toBe(false)
        expect(world).toMatchObject({ mark: undefined, marked: false })
        expect(world.cordoned).toBe(world.persons)
        expect(world.orders.size).toBe(1)
      }),
      { numRuns: 1000 },
    )
  })

  it('time alone frees no slot and moves no node', () => {
    fc.assert(
      fc.property(history, (happened) => {
        const world = run(happened)
        const { granted, cordoned, mark } = world
        for (let turn = 0; turn < 5; turn++) {
          world.happen('timePasses')
          world.settle()
        }
        expect(world).toMatchObject({ granted, cordoned })
        expect(world.mark).toBe(mark)
      }),
    )
  })
})
