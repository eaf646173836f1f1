import { describe, expect } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { holdAnnotation } from '../../src/api/hold.ts'
import { nodes } from '../../src/api/kube.ts'
import { isReady } from '../../src/core/node/node-facts.ts'
import type { WebAnswer, WebRequest } from '../../src/ports/web.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { scenario } from './story.ts'

type Hooks = NonNullable<DirectUpdateSpec['hooks']>

const minute = 60_000
const http = (path: string) => ({ http: { url: `http://hooks.example/${path}` } })
const noout: Hooks = [{ name: 'noout', when: 'BeforeNode', ...http('set'), cleanup: http('unset'), timeout: '1h' }]

/** A server that hears a call once it is not busy with it any more. */
class Server extends PretendWeb {
  isBusyWith: (call: string) => boolean = () => false
  readonly heard: string[] = []

  constructor() {
    super()
    this.answers('hooks.example', (request) => this.#answer(request))
  }

  async #answer({ url, body }: WebRequest): Promise<WebAnswer> {
    const { node } = JSON.parse(body ?? '{}')
    const call = [new URL(url).pathname.slice(1), ...(node ? [node] : [])].join(' ')
    if (this.isBusyWith(call)) return broken
    this.heard.push(call)
    return ok
  }
}

describe('hooks before a node', () => {
  const falling = new Server()
  scenario('are cleaned up before its slot goes back when it falls over', { nodes: 3, web: falling }, async (story) => {
    const { cluster, update } = story
    falling.isBusyWith = (call) => call === 'set w1'
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('w1', 'Pending', 'HookRunning')
    cluster.machine('w1').losePower()
    await cluster.until('it is not Ready', () => {
      const node = cluster.node('w1')
      return node !== undefined && !isReady(node)
    })
    await cluster.pass(minute)
    expect(cluster.ledger.grants).toMatchObject([{ node: 'w1' }])
    falling.isBusyWith = () => false
    await cluster.until('the slot is back', () => cluster.ledger.grants.length === 0)
    expect(falling.heard).toEqual(['set cp1', 'unset cp1', 'set w1', 'unset w1'])
    expect(cluster.state('w1')?.spec.hooks).toMatchObject([{ cleanup: { state: 'Succeeded' } }])
    cluster.machine('w1').powerOn()
    await running.succeeds()
  })

  const kept = new Server()
  scenario('are cleaned up and the node left alone when a person holds it', { nodes: 4, web: kept }, async (story) => {
    const { cluster, update, person } = story
    kept.isBusyWith = (call) => call === 'set w1'
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('w1', 'Pending', 'HookRunning')
    await person.annotates(nodes, 'w1', { [holdAnnotation]: JSON.stringify({ by: 'ana', why: 'disk' }) })
    await cluster.pass(minute)
    kept.isBusyWith = () => false
    await running.is('InProgress', 'NodeOnHold')
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 1, w3: 1 })
    expect(cluster.isCordoned('w1')).toBe(false)
    expect(kept.heard.filter((call) => call.endsWith('w1'))).toEqual(['set w1', 'unset w1'])
    await person.annotates(nodes, 'w1', { [holdAnnotation]: null })
    await running.succeeds()
  })

  const stopped = new Server()
  scenario('are cleaned up and no drain begins after the emergency stop', { nodes: 4, web: stopped }, async (story) => {
    const { cluster, update, person } = story
    stopped.isBusyWith = (call) => call === 'set w1'
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('w1', 'Pending', 'HookRunning')
    await person.setsPolicy({ paused: true })
    await cluster.pass(minute)
    stopped.isBusyWith = () => false
    await running.is('InProgress', 'PolicyPaused')
    await cluster.pass(10 * minute)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 0, w3: 0 })
    expect(cluster.taken).toEqual([])
    expect(stopped.heard).toEqual(['set cp1', 'unset cp1', 'set w1', 'unset w1'])
    await person.setsPolicy({ paused: false })
    await running.succeeds()
  })

  const paused = new Server()
  scenario('are cleaned up and no drain begins after a pause', { nodes: 4, web: paused }, async (story) => {
    const { cluster, update } = story
    paused.isBusyWith = (call) => call === 'set w1'
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('w1', 'Pending', 'HookRunning')
    await running.isEdited({ desiredState: 'Paused' })
    await cluster.pass(minute)
    paused.isBusyWith = () => false
    await cluster.pass(10 * minute)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 0, w3: 0 })
    expect(paused.heard).toEqual(['set cp1', 'unset cp1', 'set w1', 'unset w1'])
    expect(running.status.phase).toBe('Paused')
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
  })

  const skipped = new Server()
  scenario('are cleaned up when the node is left out meanwhile', { nodes: 4, web: skipped }, async (story) => {
    const { cluster, update } = story
    skipped.isBusyWith = (call) => call === 'set w1'
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('w1', 'Pending', 'HookRunning')
    await running.isEdited({ skip: ['w1'] })
    await cluster.pass(minute)
    skipped.isBusyWith = () => false
    await running.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 1, w3: 1 })
    expect(skipped.heard.filter((call) => call.endsWith('w1'))).toEqual(['set w1', 'unset w1'])
  })

  const deleted = new Server()
  scenario('are cleaned up before the next begins when it is deleted', { nodes: 4, web: deleted }, async (story) => {
    const { cluster, update, person } = story
    deleted.isBusyWith = (call) => call === 'unset w1'
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('w1', 'Working')
    cluster.machine('w1').losePower()
    await person.deletesNode('w1')
    await cluster.pass(minute)
    expect(deleted.heard).toEqual(['set cp1', 'unset cp1', 'set w1'])
    deleted.isBusyWith = () => false
    await running.succeeds()
    expect(deleted.heard.slice(3)).toEqual(['unset w1', 'set w2', 'unset w2', 'set w3', 'unset w3'])
  })

  const late = new Server()
  scenario('that outlast a window begin no drain where the policy holds', { nodes: 2, web: late }, async (story) => {
    const { cluster, update, person } = story
    late.isBusyWith = (call) => call.startsWith('set')
    // Stories begin at 08:00.
    await person.setsPolicy({ windows: [{ start: '08:00', end: '08:10' }], whenWindowCloses: 'Hold' })
    const running = update.script('true', { hooks: noout })
    await cluster.nodeIs('cp1', 'Pending', 'HookRunning')
    await cluster.pass(11 * minute)
    late.isBusyWith = () => false
    await running.is('InProgress', 'OutsideWindow')
    await cluster.until('the slot is back', () => cluster.ledger.grants.length === 0)
    expect(late.heard).toEqual(['set cp1', 'unset cp1'])
    expect(cluster.taken).toEqual([])
    await cluster.until('it is done in the next', () => running.status.phase === 'Succeeded', 25 * 60 * minute)
  })
})

describe('hooks before an update', () => {
  const start: Hooks = [
    { name: 'start', when: 'BeforeUpdate', ...http('start'), cleanup: http('end') },
    { name: 'wave', when: 'BeforeWave', ...http('wave'), cleanup: http('wave-over') },
  ]
  const calls = ['start', 'wave', 'wave-over', 'wave', 'wave-over', 'end']

  const early = new Server()
  scenario('wait for the window as its nodes do', { nodes: 2, web: early }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ windows: [{ start: '09:00', end: '10:00' }] })
    const running = await update.script('true', { hooks: start }).is('InProgress', 'OutsideWindow')
    await cluster.pass(30 * minute)
    for (const process of cluster.sim.programs()) process.crash()
    await cluster.pass(10 * minute)
    expect(early.heard).toEqual([])
    await running.is('InProgress', 'OutsideWindow')
    await cluster.until('it is done', () => running.status.phase === 'Succeeded', 60 * minute)
    await cluster.until('all is cleaned up', () => early.heard.includes('end'))
    expect(early.heard).toEqual(calls)
  })

  const stopped = new Server()
  scenario(
    'do not run while everything is stopped',
    { nodes: 2, web: stopped },
    async ({ cluster, update, person }) => {
      await person.setsPolicy({ paused: true })
      const running = await update.script('true', { hooks: start }).is('InProgress', 'PolicyPaused')
      await cluster.pass(minute)
      expect(stopped.heard).toEqual([])
      await person.setsPolicy({ paused: false })
      await running.succeeds()
      await cluster.until('all is cleaned up', () => stopped.heard.includes('end'))
      expect(stopped.heard).toEqual(calls)
    },
  )

  const paused = new Server()
  scenario('of the next wave wait while it is paused', { nodes: 2, web: paused }, async ({ cluster, update }) => {
    const running = await update.script('true', { hooks: start }).starts()
    await running.isEdited({ desiredState: 'Paused' })
    await running.is('Paused')
    await cluster.until('the first wave is left', () => paused.heard.includes('wave-over'))
    await cluster.pass(minute)
    expect(paused.heard).toEqual(['start', 'wave', 'wave-over'])
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
    await cluster.until('all is cleaned up', () => paused.heard.includes('end'))
    expect(paused.heard).toEqual(calls)
  })

  const failing = new Server()
  scenario('that failed are told outside the window, too', { nodes: 2, web: failing }, async (story) => {
    const { cluster, update, person } = story
    failing.isBusyWith = (call) => call === 'start'
    await person.setsPolicy({ windows: [{ start: '08:00', end: '08:30' }] })
    const running = await update.script('true', { hooks: start }).is('RequiresAttention', 'HookFailed')
    await cluster.pass(60 * minute)
    expect(running.status.phase).toBe('RequiresAttention')
    failing.isBusyWith = () => false
    await running.isRetried('1')
    await running.is('InProgress', 'OutsideWindow')
    await cluster.until('it is done in the next', () => running.status.phase === 'Succeeded', 25 * 60 * minute)
  })
})
