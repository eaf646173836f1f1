import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hook, type HookRun, hookRunsSchema, maxHooks } from '../../api/hook.ts'
import { stepCleanups, stepHooks } from './decide-hooks.ts'
import type { HookCall, HookOutcome } from './hook-call.ts'
import { jobOf } from './job-of.ts'

const http = (path: string) => ({ http: { url: `http://hooks/${path}` } })
const hooks: readonly Hook[] = [
  { name: 'a', when: 'BeforeNode', ...http('a'), cleanup: http('undo-a') },
  { name: 'b', when: 'BeforeNode', ...http('b'), onFailure: 'Continue', cleanup: http('undo-b') },
  { name: 'c', when: 'BeforeNode', ...http('c') },
]

/** An operator that may lose its memory at any moment, and servers that count what they are told. */
class World {
  runs: readonly HookRun[] = []
  memory = new Map<string, HookOutcome>()
  /** By key, as a server that looks at the key sees it. */
  readonly told = new Map<string, string>()
  readonly order: string[] = []
  now = 1
  readonly #fails: ReadonlySet<string>

  constructor(fails: ReadonlySet<string>) {
    this.#fails = fails
  }

  step(phase: 'hooks' | 'cleanups') {
    const view = {
      hooks,
      when: 'BeforeNode' as const,
      operationID: 'u/1',
      node: 'w1',
      runs: this.runs,
      outcomeOf: (call: HookCall) => this.memory.get(call.key),
      now: new Date(this.now++ * 1000),
    }
    const step = phase === 'hooks' ? stepHooks(view) : stepCleanups(view)
    if (step.step === 'record') this.runs = step.runs
    if (step.step === 'start') this.#start(step.call)
    return step
  }

  #start({ key, action, hook }: HookCall): void {
    const path = action.http?.url.split('/').at(-1) ?? ''
    const isRecorded = this.runs.some((run) => run.hook === hook)
    expect(isRecorded, 'the record comes before the effect').toBe(true)
    if (!this.told.has(key)) this.order.push(path)
    this.told.set(key, path)
    this.memory.set(key, this.#fails.has(path) ? { state: 'failed', message: 'no' } : { state: 'succeeded' })
  }
}

describe('hooks', () => {
  it('each once and in order, each clean-up once and in reverse, whenever the operator forgets everything', () => {
    fc.assert(
      fc.property(
        fc.subarray(['a', 'b', 'c', 'undo-a', 'undo-b']),
        fc.array(fc.boolean(), { maxLength: 40 }),
        fc.nat(20),
        (fails, forgets, stopAfter) => {
          const world = new World(new Set(fails))
          const turn = (phase: 'hooks' | 'cleanups', index: number) => {
            const step = world.step(phase)
            if (forgets[index]) world.memory.clear()
            return step.step
          }
          let index = 0
          // The update is deleted after so many steps, or the hooks are through.
          while (index < stopAfter && !['passed', 'failed'].includes(turn('hooks', index))) index++
          for (let more = 0; turn('cleanups', index) !== 'passed'; index++) expect(more++).toBeLessThan(60)
          const of = (prefix: string) => world.order.filter((path) => path.startsWith('undo') === (prefix === 'undo'))
          expect(new Set(world.order).size).toBe(world.order.length)
          expect(of('hook')).toEqual(['a', 'b', 'c'].slice(0, of('hook').length))
          const owed = of('hook')
            .filter((path) => path !== 'c')
            .map((path) => `undo-${path}`)
          expect(of('undo')).toEqual(owed.reverse())
          expect(world.runs.every(({ cleanup }) => cleanup?.state !== 'Owed' && cleanup?.state !== 'Running')).toBe(
            true,
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('stop at one that fails, unless it says otherwise', () => {
    const stopped = new World(new Set(['a']))
    while (!['passed', 'failed'].includes(stopped.step('hooks').step)) expect(stopped.now).toBeLessThan(30)
    expect(stopped.order).toEqual(['a'])
    expect(stopped.step('hooks')).toMatchObject({ step: 'failed', reason: { code: 'HookFailed' } })
    const going = new World(new Set(['b']))
    while (going.step('hooks').step !== 'passed') expect(going.now).toBeLessThan(30)
    expect(going.runs.map(({ state }) => state)).toEqual(['Succeeded', 'Ignored', 'Succeeded'])
  })
})

describe('a node that is taken again while what its hooks did is cleaned up', () => {
  it('has each begun anew only after its own clean-up has ended', () => {
    const world = new World(new Set())
    const toTheEnd = (phase: 'hooks' | 'cleanups') => {
      for (let step = world.step(phase); step.step !== 'passed'; step = world.step(phase))
        expect(step.step).toBeDefined()
    }
    toTheEnd('hooks')
    // The clean-up of the last one is on record, and nobody has been told of it yet.
    expect(world.step('cleanups').step).toBe('record')
    toTheEnd('hooks')
    expect(world.order).toEqual(['a', 'b', 'c', 'undo-b', 'b'])
    toTheEnd('cleanups')
    expect(world.order.slice(5)).toEqual(['undo-b', 'undo-a'])
  })
})

describe('a Job of a hook', () => {
  it('is the template with a deadline, a week to be seen, and what it is for', () => {
    const container = {
      name: 'main',
      image: 'i',
      env: [
        { name: 'SLIPWAY_NODE', value: 'forged' },
        { name: 'OWN', value: '1' },
      ],
    }
    const template = {
      spec: { backoffLimit: 2, template: { spec: { containers: [container], initContainers: [container] } } },
    }
    const terms = { name: 'n', namespace: 'ns', label: 'l', purpose: 'p', timeoutMs: 90_500, onNode: 'w1' }
    const job = jobOf(template, { ...terms, environment: { SLIPWAY_NODE: 'w1' } })
    expect(job.spec).toMatchObject({ backoffLimit: 2, activeDeadlineSeconds: 91, ttlSecondsAfterFinished: 604_800 })
    const { nodeName, containers, initContainers } = job.spec.template.spec
    expect(nodeName).toBe('w1')
    const env = [
      { name: 'OWN', value: '1' },
      { name: 'SLIPWAY_NODE', value: 'w1' },
    ]
    expect(containers).toMatchObject([{ env }])
    expect(initContainers).toMatchObject([{ env }])
  })
})

it('the record of many waves stays within its bound', () => {
  const many: readonly Hook[] = Array.from({ length: maxHooks }, (_, index) => ({
    name: `h${index}`,
    when: index % 2 === 0 ? 'BeforeWave' : 'AfterWave',
    ...http(`h${index}`),
    cleanup: http('undo'),
  }))
  let runs: readonly HookRun[] = []
  const settle = (advance: (view: Parameters<typeof stepHooks>[0]) => ReturnType<typeof stepHooks>, rest: object) => {
    for (;;) {
      const outcomeOf = () => ({ state: 'succeeded' }) as const
      const base = { hooks: many, when: 'BeforeWave', operationID: 'u/1', runs, outcomeOf, now: new Date(0) } as const
      const step = advance({ ...base, ...rest })
      if (step.step !== 'record') return
      runs = step.runs
      expect(hookRunsSchema.safeParse(runs).error).toBeUndefined()
    }
  }
  for (let wave = 0; wave < 40; wave++) {
    settle(stepHooks, { when: 'BeforeWave', wave })
    settle(stepHooks, { when: 'AfterWave', wave })
    settle(stepCleanups, { wave })
  }
  expect(new Set(runs.map(({ wave }) => wave))).toEqual(new Set([38, 39]))
})
