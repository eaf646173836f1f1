import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type NodeTraits, sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import type { Node } from '../../api/kube.ts'
import type { StagingState } from '../../core/node/stage-node.ts'
import type { Standing } from '../../core/update/standing.ts'
import { MemberTable } from './member-table.ts'

interface Host extends NodeTraits {
  /** Absent: not a node of this operation. */
  readonly standing?: Standing | undefined
  readonly staging?: StagingState
  /** Without a word, whoever is under work or calls for a person. */
  readonly taken?: boolean
}

/** A table whose judge goes by what the test says of each host. */
function tableOf(hosts: Record<string, Host>, ownNode?: string) {
  const standings = new Map<string, Standing | undefined>()
  const stagings = new Map<string, StagingState>()
  const taken = new Set<string>()
  const table = new MemberTable({
    standing: ({ metadata }) => standings.get(metadata.name),
    staging: (_node, state) => stagings.get(state?.metadata.name ?? '') ?? 'no',
    isTaken: ({ metadata }) => taken.has(metadata.name),
    isOwnNode: (name) => name === ownNode,
  })
  const set = (name: string, host: Host | undefined): boolean => {
    standings.set(name, host?.standing)
    stagings.set(name, host?.staging ?? 'no')
    if (host?.taken ?? (host?.standing === 'working' || host?.standing === 'attention')) taken.add(name)
    else taken.delete(name)
    return table.refresh(name, host && nodeOf(name, host), sampleState(name, {}))
  }
  for (const [name, host] of Object.entries(hosts)) set(name, host)
  return { table, set }
}

const nodeOf = (name: string, host: Host): Node => sampleNode(name, { controlPlane: name.startsWith('c'), ...host })
const names = (table: MemberTable) => [...table.candidates()].map(({ node }) => node)
const waiting: Host = { standing: 'waiting' }
const done: Host = { standing: 'done' }

const asked: Host = { standing: 'waiting', staging: 'asked' }
const staged: Host = { standing: 'waiting', staging: 'ready' }
const away = { ready: 'False' } as const

describe('staging', () => {
  it.each<[string, Record<string, Host>, readonly string[]]>([
    ['so many ahead', { w1: waiting, w2: waiting, w3: waiting }, ['w1', 'w2']],
    ['those that stage or have are counted', { w1: asked, w2: staged, w3: waiting }, []],
    [
      'one that is not Ready is neither asked nor counted',
      { w1: { ...waiting, ...away }, w2: { ...staged, ...away }, w3: asked, w4: waiting },
      ['w4'],
    ],
    ['nodes of the next wave stage too', { c1: asked, w1: waiting, w2: waiting }, ['w1']],
    ['but never keep those of this wave from it', { c1: waiting, w1: staged, w2: staged }, ['c1']],
    ['nor do later ones of the control plane keep its first', { c1: waiting, c2: staged, c3: staged }, ['c1']],
    ['nor are more of the next asked then', { c1: waiting, c2: { standing: 'done' }, w1: staged, w2: waiting }, ['c1']],
  ])('%s', (_name, hosts, expected) => {
    expect(tableOf(hosts).table.nextToStage(2)).toEqual(expected)
  })

  it.each<[string, readonly string[], Record<string, Host>, readonly string[]]>([
    [
      'take no room of those that could',
      ['w1', 'w2'],
      { w1: staged, w2: asked, w3: waiting, w4: waiting },
      ['w3', 'w4'],
    ],
    ['stage themselves where there is room', ['w1', 'w2'], { w1: waiting, w2: waiting, w3: asked }, ['w1']],
    ['leave it to those that could', ['w1'], { w1: waiting, w2: asked, w3: asked }, []],
    [
      'are passed over by the first of the control plane',
      ['c1'],
      { c1: waiting, c2: waiting, c3: staged, c4: staged },
      ['c2'],
    ],
    ['keep no worker from staging beside the control plane', ['w1'], { c1: asked, w1: staged, w2: waiting }, ['w2']],
  ])('nodes that could not go %s', (_name, kept, hosts, expected) => {
    const { table } = tableOf(hosts)
    expect(table.nextToStage(2, undefined, (name) => kept.includes(name))).toEqual(expected)
  })

  it.each<[string, Record<string, Host>]>([
    ['where our own node, which comes last, has staged', { c1: staged, c2: waiting, c3: staged }],
    ['where one that is away already comes first', { c1: staged, c2: { ...waiting, cordoned: true }, c3: staged }],
  ])('the next of the control plane is asked %s', (_name, hosts) => {
    expect(tableOf(hosts, 'c1').table.nextToStage(2)).toEqual(['c2'])
  })

  it('only those of the present wave that have staged may go, those already away first, our own node last', () => {
    const hosts = { w1: staged, w2: { ...staged, cordoned: true }, w3: staged, w4: asked, w5: { ...staged, ...away } }
    const nodesOf = (given: Record<string, Host>) => [...tableOf(given, 'w1').table.staged()].map(({ node }) => node)
    expect(nodesOf(hosts)).toEqual(['w2', 'w3', 'w1'])
    expect(nodesOf({ ...hosts, c1: waiting })).toEqual([])
  })
})

describe('candidates', () => {
  it.each<[string, Record<string, Host>, readonly string[]]>([
    ['nobody', {}, []],
    ['workers by name, numbers as numbers', { w10: waiting, w2: waiting, w1: waiting }, ['w1', 'w2', 'w10']],
    ['the control plane first, and alone', { w1: waiting, c2: waiting, c1: waiting }, ['c1', 'c2']],
    ['workers once the control plane is done', { w1: waiting, c1: done, c2: { standing: 'skipped' } }, ['w1']],
    ['no worker while a control-plane node is under work', { c1: { standing: 'working' }, w1: waiting }, []],
    ['no worker while one failed', { c1: { standing: 'failed' }, w1: waiting }, []],
    ['no worker while one needs a person', { c1: { standing: 'attention' }, w1: waiting }, []],
    ['no worker while one is not Ready', { c1: { ...waiting, ready: 'False' }, w1: waiting }, []],
    ['nobody twice', { w1: { standing: 'working' }, w2: done, w3: { standing: 'failed' }, w4: waiting }, ['w4']],
    ['nodes that are not Ready are waited for', { w1: { ...waiting, ready: 'False' }, w2: waiting }, ['w2']],
    [
      'nodes cordoned by somebody else go first',
      { w1: waiting, w2: { ...waiting, cordoned: true }, w3: waiting },
      ['w2', 'w1', 'w3'],
    ],
    ['but not before their wave', { c1: waiting, w1: { ...waiting, cordoned: true } }, ['c1']],
    [
      'a cordoned control-plane node goes first in its wave',
      { c1: waiting, c2: { ...waiting, cordoned: true } },
      ['c2', 'c1'],
    ],
    ['cordoned and not Ready waits', { w1: { ...waiting, cordoned: true, ready: 'False' }, w2: waiting }, ['w2']],
    ['nodes of others are no candidates', { w1: {}, w2: waiting }, ['w2']],
  ])('%s', (_name, hosts, expected) => {
    expect(names(tableOf(hosts).table)).toEqual(expected)
  })

  it("the operator's own node comes last among its equals", () => {
    expect(names(tableOf({ w1: waiting, w2: waiting, w3: waiting }, 'w1').table)).toEqual(['w2', 'w3', 'w1'])
    expect(names(tableOf({ c1: waiting, c2: waiting, w1: waiting }, 'c1').table)).toEqual(['c2', 'c1'])
    expect(names(tableOf({ w1: waiting }, 'w1').table)).toEqual(['w1'])
  })

  it('say which machine and which role', () => {
    expect([...tableOf({ c1: waiting }).table.candidates()]).toEqual([
      { node: 'c1', nodeUID: 'uid-c1', role: 'ControlPlane' },
    ])
  })

  it('come back when they wait again', () => {
    const { table, set } = tableOf({ w1: done, w2: waiting, w3: waiting })
    expect(names(table)).toEqual(['w2', 'w3'])
    set('w2', { standing: 'working' })
    expect(names(table)).toEqual(['w3'])
    set('w1', waiting)
    expect(names(table)).toEqual(['w1', 'w3'])
  })

  it('follow a change of role', () => {
    const { table, set } = tableOf({ w1: waiting, w2: waiting, w3: waiting })
    expect(names(table)).toEqual(['w1', 'w2', 'w3'])
    set('w2', { ...waiting, controlPlane: true })
    expect(names(table)).toEqual(['w2'])
    set('w2', done)
    expect(names(table)).toEqual(['w1', 'w3'])
  })

  it('keep their turn when a node leaves, comes back, or another joins', () => {
    const { table, set } = tableOf({ w1: waiting, w3: waiting })
    expect(names(table)).toEqual(['w1', 'w3'])
    set('w1', undefined)
    expect(names(table)).toEqual(['w3'])
    set('w2', waiting)
    expect(names(table)).toEqual(['w2', 'w3'])
    set('w1', waiting)
    expect(names(table)).toEqual(['w1', 'w2', 'w3'])
  })
})

describe('waves', () => {
  const six = { w1: waiting, w2: waiting, w3: waiting, w4: waiting, w5: waiting, w6: waiting }
  const first = (size: number) => () => size

  it('only nodes of the present one may go or stage, those away already first, our own last', () => {
    const { table, set } = tableOf(
      { ...six, w2: { ...waiting, cordoned: true }, w5: { ...waiting, cordoned: true } },
      'w1',
    )
    table.openWave(first(3))
    expect(names(table)).toEqual(['w2', 'w3', 'w1'])
    expect(table.nextToStage(10)).toEqual(['w1', 'w2', 'w3'])
    expect(table.nextToStage(1, (name) => name !== 'w1')).toEqual(['w2'])
    set('w4', staged)
    set('w3', staged)
    expect([...table.staged()].map(({ node }) => node)).toEqual(['w3'])
  })

  it('is counted as its nodes stand', () => {
    const { table, set } = tableOf({ ...six, c1: done })
    table.openWave(first(4))
    expect(table.wave).toEqual({ size: 4, open: 4, done: 0, failed: 0, unready: 0 })
    set('w1', done)
    set('w2', { standing: 'failed' })
    set('w3', { ...waiting, ready: 'False' })
    set('w5', done)
    expect(table.wave).toEqual({ size: 4, open: 1, done: 1, failed: 1, unready: 1 })
    table.openWave(first(5))
    expect(table.wave).toEqual({ size: 5, open: 1, done: 2, failed: 1, unready: 1 })
  })

  it('who has nothing to do is in none of them, and the next takes the place of one who leaves', () => {
    const { table, set } = tableOf({ ...six, w1: { standing: 'skipped' } })
    table.openWave((workers) => Math.floor(workers / 2))
    expect(table.ranked).toBe(5)
    expect(names(table)).toEqual(['w2', 'w3'])
    set('w1', waiting)
    expect(names(table)).toEqual(['w1', 'w2', 'w3'])
    set('w2', undefined)
    expect(names(table)).toEqual(['w1', 'w3'])
    expect(table.wave).toMatchObject({ size: 2, open: 2 })
  })

  it('weight comes before being away', () => {
    const heavy = { labels: { 'slipway.dev/weight': '5' } }
    const hosts = {
      w1: { ...waiting, cordoned: true },
      w2: waiting,
      w3: { ...waiting, ...heavy },
      w4: { ...waiting, ...heavy, cordoned: true },
    }
    expect(names(tableOf(hosts, 'w3').table)).toEqual(['w4', 'w3', 'w1', 'w2'])
  })
})

describe('the table', () => {
  it('tells whether a look changed anything', () => {
    const { set } = tableOf({ w1: waiting })
    expect(set('w1', waiting)).toBe(false)
    expect(set('w1', { ...waiting, labels: { any: 'thing' } })).toBe(false)
    expect(set('w1', { ...waiting, ready: 'False' })).toBe(true)
    expect(set('w1', { ...waiting, cordoned: true })).toBe(true)
    expect(set('w1', done)).toBe(true)
    expect(set('w1', {})).toBe(true)
    expect(set('w1', {})).toBe(false)
    expect(set('w1', undefined)).toBe(false)
  })

  it('sees another machine of the same name', () => {
    const table = new MemberTable({
      standing: () => 'waiting',
      staging: () => 'no' as const,
      isTaken: () => false,
      isOwnNode: () => false,
    })
    const node = sampleNode('w1')
    table.refresh('w1', node, undefined)
    expect(table.refresh('w1', { ...node, metadata: { ...node.metadata, uid: 'new' } }, undefined)).toBe(true)
    expect([...table.candidates()]).toEqual([{ node: 'w1', nodeUID: 'new', role: 'Worker' }])
  })

  it('counts against the limit: in the control-plane wave its own, then workers under work or not Ready', () => {
    const { table, set } = tableOf({
      c1: { standing: 'working' },
      w1: { standing: 'working' },
      w2: { standing: 'attention' },
      w3: { ...waiting, ready: 'False' },
      w4: { standing: 'failed' },
      w5: done,
    })
    expect(table).toMatchObject({ counted: 1, inControlPlaneWave: true, controlPlaneBroken: false, workers: 5 })
    set('c1', { standing: 'attention' })
    expect(table).toMatchObject({ counted: 1, inControlPlaneWave: true, controlPlaneBroken: true })
    set('c1', { standing: 'failed' })
    expect(table).toMatchObject({ counted: 0, inControlPlaneWave: true, controlPlaneBroken: true })
    set('c1', done)
    expect(table).toMatchObject({ counted: 3, inControlPlaneWave: false, controlPlaneBroken: false })
    set('w2', { standing: 'attention', taken: true })
    expect(table.counted).toBe(3)
    set('w2', { standing: 'attention', taken: false })
    expect(table.counted).toBe(2)
  })

  it('names a few of a standing, and of those that cannot go', () => {
    const { table } = tableOf({
      w1: { standing: 'failed' },
      w2: { standing: 'failed' },
      w3: { ...waiting, ready: 'Unknown' },
      w4: { ...waiting, ready: 'False' },
      w5: { ...done, ready: 'False' },
    })
    expect(table.some('failed', 5)).toEqual(['w1', 'w2'])
    expect(table.some('failed', 1)).toEqual(['w1'])
    expect(table.some('attention', 5)).toEqual([])
    expect(table.notReady(5)).toEqual(['w3', 'w4'])
    expect(table.notReady(1)).toEqual(['w3'])
    expect(table.standing('w1')).toBe('failed')
    expect(table.standing('w9')).toBeUndefined()
  })
})

describe('over any history of changes', () => {
  const own = 'w3'
  const standings = ['waiting', 'working', 'attention', 'failed', 'done', 'skipped'] as const
  const host = fc.record({
    standing: fc.oneof(
      { weight: 4, arbitrary: fc.constant('waiting' as const) },
      { weight: 4, arbitrary: fc.constantFrom(...standings) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    ready: fc.constantFrom('True' as const, 'True' as const, 'False' as const),
    cordoned: fc.constantFrom(false, false, true),
    controlPlane: fc.constantFrom(false, false, false, true),
    taken: fc.boolean(),
  })
  const change = fc.tuple(
    fc.constantFrom('w1', 'w2', 'w3', 'w4', 'w10', 'm1'),
    fc.oneof({ weight: 6, arbitrary: host }, { weight: 1, arbitrary: fc.constant(undefined) }),
    fc.boolean(),
  )

  it('it is as if counted anew', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.constantFrom(1, 2, 3, 99), (changes, size) => {
        const hosts = new Map<string, Host>()
        const { table, set } = tableOf({}, own)
        table.openWave((workers) => Math.min(workers, size))
        for (const [name, to, look] of changes) {
          set(name, to)
          if (to?.standing) hosts.set(name, to)
          else hosts.delete(name)
          if (look) expectAnew(table, hosts, size)
        }
        expectAnew(table, hosts, size)
      }),
      { numRuns: 500 },
    )
  })

  function expectAnew(table: MemberTable, hosts: ReadonlyMap<string, Host>, size: number): void {
    const all = [...hosts].map(([name, member]) => ({ name, ...member }))
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name, 'en', { numeric: true })
    const inWave = all
      .filter(({ controlPlane, standing }) => !controlPlane && standing !== 'skipped')
      .sort(byName)
      .slice(0, size)
    const isIn = (member: { name: string; controlPlane?: boolean }) =>
      member.controlPlane || inWave.some(({ name }) => name === member.name)
    expect(table.wave).toMatchObject({
      size: inWave.length,
      done: inWave.filter(({ standing }) => standing === 'done').length,
      unready: inWave.filter(({ standing, ready }) => standing === 'waiting' && ready !== 'True').length,
    })
    for (const standing of standings) {
      expect(table.counts[standing]).toBe(all.filter((member) => member.standing === standing).length)
    }
    const open = all.filter(
      ({ controlPlane, standing }) => controlPlane && standing !== 'done' && standing !== 'skipped',
    )
    const wave = open.length > 0
    expect(table.inControlPlaneWave).toBe(wave)
    expect(table.workers).toBe(all.filter(({ controlPlane }) => !controlPlane).length)
    const busy = all.filter(
      ({ standing, taken = true }) => standing === 'working' || (standing === 'attention' && taken),
    )
    const down = all.filter(({ ready, controlPlane }) => ready !== 'True' && !controlPlane)
    expect(table.counted).toBe(
      wave
        ? busy.filter(({ controlPlane }) => controlPlane).length
        : new Set([...busy.filter(({ controlPlane }) => !controlPlane), ...down]).size,
    )
    const ready = all
      .filter(
        (member) =>
          member.standing === 'waiting' && member.ready === 'True' && member.controlPlane === wave && isIn(member),
      )
      .sort(byName)
    const free = ready.filter(({ cordoned }) => cordoned)
    const rest = ready.filter(({ cordoned }) => !cordoned)
    const inTurn = [...rest.filter(({ name }) => name !== own), ...rest.filter(({ name }) => name === own)]
    const found = names(table)
    expect(found.slice(0, free.length).sort()).toEqual(free.map(({ name }) => name).sort())
    expect(found.slice(free.length)).toEqual(inTurn.map(({ name }) => name))
  }
})
