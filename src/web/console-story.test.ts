// What a person does at the console, on a cluster that lives: the real operator and agents, simulated machines.

import { afterEach, describe, expect, it } from 'vitest'
import { type ConsoleBed, type ConsoleBedOptions, startConsole } from '../../test/browser/console-server.ts'
import { readStream } from '../../test/browser/stream-reader.ts'
import type { ActionAnswer, ActionRequest, ConsoleError, NodeLog, PlanAnswer, Rights } from '../api/console.ts'
import { directUpdates } from '../api/direct-update.ts'
import { nodes } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import { maintenancePolicies, policyName, stopAnnotation } from '../api/maintenance-policy.ts'
import { logsAnnotation, nodeStates } from '../api/node-state.ts'
import type { RunReport } from './report.ts'

let bed: ConsoleBed | undefined

afterEach(async () => {
  await bed?.stop()
  bed = undefined
})

async function start(options: ConsoleBedOptions): Promise<ConsoleBed> {
  bed = await startConsole({ files: new Map(), ...options })
  return bed
}

async function get<T>({ port, token }: ConsoleBed, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return (await response.json()) as T
}

async function post<T>(
  { port, token }: ConsoleBed,
  path: string,
  body: unknown,
): Promise<T & { readonly status: number }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return { ...((await response.json()) as T), status: response.status }
}

const act = (on: ConsoleBed, request: ActionRequest) => post<ActionAnswer & ConsoleError>(on, 'actions', request)

/** Lets the time of a cluster that lives go by. */
async function later({ cluster: { clock } }: ConsoleBed, seconds: number): Promise<void> {
  const untilMs = clock.now().getTime() + seconds * 1_000
  await expect.poll(() => clock.now().getTime()).toBeGreaterThan(untilMs)
}

const update = 'to-1-36'

describe('actions are the writes the commands make', () => {
  it('pause, resume, skip, run-now, cancel: each says what it did and how to do it by hand', async () => {
    const on = await start({ situation: 'blocked' })
    const specOf = () => on.cluster.server.peek(directUpdates, { name: update })?.spec
    expect(await act(on, { action: 'pause', update })).toMatchObject({
      status: 200,
      command: `slipway pause ${update}`,
    })
    expect(specOf()?.desiredState).toBe('Paused')
    const reader = await readStream(on)
    await on.pass(5)
    await expect.poll(() => reader.state.updates[update]?.phase).toBe('Paused')
    expect(reader.state.causes.map(({ code }) => code)).toContain('UpdatePaused')
    expect(await act(on, { action: 'resume', update })).toMatchObject({ status: 200, message: `${update}: goes on` })
    expect(await act(on, { action: 'skip', update, nodes: ['w9'] })).toMatchObject({
      command: `slipway skip ${update} w9`,
    })
    expect(specOf()?.skip).toEqual(['w9'])
    await expect.poll(() => reader.state.nodes.w9?.phase).toBe('Skipped')
    const now = await act(on, { action: 'run-now', update, reason: "it's urgent" })
    expect(now.command).toBe(`slipway run-now ${update} --reason 'it'\\''s urgent'`)
    expect(specOf()?.runNow).toMatchObject({ by: 'mira', reason: "it's urgent" })
    await act(on, { action: 'cancel', update })
    expect(specOf()).toMatchObject({ desiredState: 'Cancelled', onCancel: 'Finish' })
    await on.pass(60)
    await expect.poll(() => reader.state.updates[update]?.phase).toBe('Cancelled')
    reader.close()
  })

  it('what makes no sense is refused in the words of the command', async () => {
    const on = await start({ situation: 'blocked' })
    const refused = await act(on, { action: 'resume', update })
    expect(refused).toMatchObject({ status: 409, code: 'Refused', message: `${update} is not paused` })
    expect(await act(on, { action: 'pause', update: 'nobody' })).toMatchObject({ status: 404, code: 'NotFound' })
  })

  it('an approval carries the name of whoever gave it; the next wave begins, and nobody takes a node away under work', async () => {
    const on = await start({ situation: 'approval' })
    const reader = await readStream(on)
    expect(reader.state.updates[update]?.waves[1]?.approval).toEqual({ asked: true })
    expect(reader.state.causes.find(({ code }) => code === 'ApprovalWanted')).toMatchObject({
      waitsFor: 'Person',
      updates: [update],
      command: `slipway approve ${update}`,
    })
    expect(await act(on, { action: 'approve', update })).toMatchObject({ status: 200 })
    await on.pass(30)
    await expect.poll(() => reader.state.updates[update]?.waves[1]?.approval?.by).toBe('mira')
    await expect.poll(() => (reader.state.updates[update]?.counts.working ?? 0) > 0).toBe(true)
    const busy = () => Object.values(reader.state.nodes).find(({ phase }) => phase === 'Working')?.name
    await expect.poll(() => on.pass(2).then(busy)).toBeDefined()
    const name = busy() ?? ''
    const early = await act(on, { action: 'release', nodes: [name] })
    expect(early).toMatchObject({ status: 409, message: expect.stringContaining(`may still run on ${name}`) })
    reader.close()
  })

  it('hold, release, stop and go on for all, create', async () => {
    const on = await start({ situation: 'fresh' })
    const node = () => on.cluster.server.peek(nodes, { name: 'w3' })
    const policy = () => on.cluster.server.peek(maintenancePolicies, { name: policyName })?.spec
    expect(await act(on, { action: 'hold', nodes: ['w3'], reason: 'disk' })).toMatchObject({
      message: 'w3 is on hold: no new work starts there',
      command: "slipway hold w3 --reason 'disk'",
    })
    expect(node()?.metadata.annotations?.['slipway.dev/hold']).toContain('"by":"mira"')
    await act(on, { action: 'release', nodes: ['w3'] })
    expect(node()?.metadata.annotations?.['slipway.dev/hold']).toBeUndefined()
    await act(on, { action: 'stop-all' })
    expect(policy()?.paused).toBe(true)
    await act(on, { action: 'go-on-all' })
    expect(policy()?.paused).toBe(false)
    const signed = { metadata: { annotations: { [stopAnnotation]: 'uninstall' } }, spec: { paused: true } }
    on.cluster.server.patch('test', maintenancePolicies, { name: policyName }, { type: 'merge', body: signed })
    await act(on, { action: 'stop-all' })
    expect(on.cluster.server.peek(maintenancePolicies, { name: policyName })?.metadata.annotations).not.toHaveProperty([
      stopAnnotation,
    ])
    const manifest = `apiVersion: slipway.dev/v1alpha1\nkind: DirectUpdate\nmetadata: { name: by-hand }\nspec: { kubernetes: { version: v1.36.3 } }\n`
    expect(await act(on, { action: 'create', manifest })).toMatchObject({ status: 200 })
    expect(on.cluster.server.peek(directUpdates, { name: 'by-hand' })).toBeDefined()
    const wrong = await act(on, { action: 'create', manifest: manifest.replace('kubernetes', 'kubernetties') })
    expect(wrong).toMatchObject({ status: 400, message: expect.stringContaining('kubernetties') })
  })
})

describe('a person without rights', () => {
  it('sees what they may, is told what is missing, and nothing is hidden', async () => {
    const hidden = new Set(['list nodestates', 'list updateschedules'])
    const may = (verb: string, resource: string) => verb === 'list' && !hidden.has(`${verb} ${resource}`)
    const on = await start({ situation: 'blocked', may })
    const reader = await readStream(on)
    expect(reader.state.missing).toEqual(['list nodestates.slipway.dev', 'list updateschedules.slipway.dev'])
    expect(Object.keys(reader.state.nodes)).toHaveLength(12)
    expect(reader.state.updates[update]?.phase).toBe('InProgress')
    const { user, actions } = await get<Rights>(on, 'rights')
    expect(user).toBe('mira')
    expect(actions.pause).toEqual({
      allowed: false,
      missing: 'patch directupdates.slipway.dev, create directupdates.slipway.dev',
    })
    expect(actions.approve.missing).toContain('update directupdates.slipway.dev/approval')
    expect(actions.hold).toEqual({ allowed: false, missing: 'patch nodes' })
    const tried = await act(on, { action: 'stop-all' })
    expect(tried).toMatchObject({
      status: 403,
      code: 'NotPermitted',
      message: 'you may not patch maintenancepolicies.slipway.dev in the whole cluster',
    })
    reader.close()
  })
})

describe('trouble', () => {
  it('an API that is away is said so and is back by itself, with what happened meanwhile', async () => {
    const on = await start({ situation: 'large', nodes: 30, speed: 50 })
    const reader = await readStream(on)
    expect(reader.state.trouble).toBeUndefined()
    on.loseApi()
    await expect.poll(() => reader.state.trouble?.message).toContain('the API server does not answer')
    expect(reader.state.trouble?.answers).toBe(false)
    expect(Object.keys(reader.state.nodes)).toHaveLength(30)
    await on.large?.setPhase('w20', 'Working')
    on.regainApi()
    await expect.poll(() => reader.state.trouble).toBeUndefined()
    await expect.poll(() => reader.state.nodes.w20?.phase).toBe('Working')
    reader.close()
  })

  it.each([
    ['nothing that is shown', ['list', 'watch']],
    ['no watch', ['watch']],
  ] as const)('so is an API server that answers, but %s', async (_, refused) => {
    const on = await start({ situation: 'large', nodes: 30, speed: 20 })
    const reader = await readStream(on)
    on.breakStreams(...refused)
    await expect
      .poll(() => reader.state.trouble, { timeout: 10_000 })
      .toMatchObject({ message: expect.stringContaining('etcdserver: request timed out'), answers: true })
    await on.large?.setPhase('w20', 'Working')
    await later(on, 60)
    expect(reader.state.trouble).toBeDefined()
    on.breakStreams()
    await expect.poll(() => reader.state.trouble).toBeUndefined()
    await expect.poll(() => reader.state.nodes.w20?.phase).toBe('Working')
    reader.close()
  })

  it('a token that has run out is told as that, by an API server that answers', async () => {
    const on = await start({ situation: 'large', nodes: 5, speed: 20 })
    const reader = await readStream(on)
    on.loseApi(new KubeError('Unauthorized', 'the token has expired', { status: 401 }))
    await expect
      .poll(() => reader.state.trouble)
      .toMatchObject({ message: expect.stringContaining('the token has expired'), answers: true })
    on.regainApi()
    await expect.poll(() => reader.state.trouble).toBeUndefined()
    reader.close()
  })

  it('a balancer that answers for an API server which is gone is no API server', async () => {
    const on = await start({ situation: 'large', nodes: 5, speed: 20 })
    const reader = await readStream(on)
    on.loseApi(new KubeError('ServerError', 'no server is there', { status: 503 }))
    await expect
      .poll(() => reader.state.trouble)
      .toMatchObject({ message: expect.stringContaining('no server is there'), answers: false })
    on.regainApi()
    await expect.poll(() => reader.state.trouble).toBeUndefined()
    reader.close()
  })

  it('an API that was away for long and answers again is no trouble any more, though nothing new is told yet', async () => {
    const on = await start({ situation: 'large', nodes: 5, speed: 1 })
    const reader = await readStream(on)
    on.loseApi()
    await later(on, 8)
    expect(reader.state.trouble).toBeDefined()
    on.regainApi()
    await expect.poll(() => reader.state.trouble, { timeout: 9_000 }).toBeUndefined()
    reader.close()
  })

  it('an API that comes back without what is shown is still in trouble, and says that it answers', async () => {
    const on = await start({ situation: 'large', nodes: 30, speed: 20 })
    const reader = await readStream(on)
    on.loseApi()
    await expect.poll(() => reader.state.trouble?.answers).toBe(false)
    const since = reader.state.trouble?.since
    on.breakStreams('list', 'watch')
    on.regainApi()
    await expect.poll(() => reader.state.trouble, { timeout: 10_000 }).toMatchObject({ since, answers: true })
    reader.close()
  })

  it('a stream that breaks and is there again is no trouble, however quiet the cluster is', async () => {
    const on = await start({ situation: 'large', nodes: 30, speed: 20 })
    const reader = await readStream(on)
    for (let time = 0; time < 3; time++) {
      on.breakStreams()
      await later(on, 30)
    }
    await on.large?.setPhase('w20', 'Working')
    await expect.poll(() => reader.state.nodes.w20?.phase).toBe('Working')
    expect(reader.changes.filter(({ trouble }) => trouble)).toEqual([])
    reader.close()
  })

  it('an operator that moves to another node changes nothing for who watches', async () => {
    const on = await start({ situation: 'blocked' })
    const reader = await readStream(on)
    const { epoch } = reader.state.policy
    for (const program of on.cluster.programs()) program.crash()
    await on.pass(120)
    await expect.poll(() => reader.state.policy.epoch).toBeGreaterThan(epoch)
    expect(reader.ended).toBe(false)
    reader.close()
  })
})

describe('questions', () => {
  it('the log of a step, whole, from the host; the report of a run', async () => {
    const on = await start({ situation: 'blocked', speed: 20 })
    const tails = await get<NodeLog>(on, 'nodes/w1/log?step=upgrade-kubelet')
    expect(tails.entries).toEqual([
      expect.objectContaining({ step: 'upgrade-kubelet', text: expect.stringMatching(/kubelet/) }),
    ])
    const full = await get<NodeLog>(on, 'nodes/w1/log?full=1')
    expect(full).toMatchObject({ command: 'slipway logs w1 --full' })
    expect(full.entries[0]?.text).not.toBe('')
    const report = await get<RunReport>(on, `report/${update}.json`)
    expect(report.update.metadata.name).toBe(update)
    expect(report.nodes.map(({ metadata }) => metadata.name)).toContain('w1')
    expect(JSON.stringify(report)).not.toContain('managedFields')
  })

  it('the log of a node that somebody else asks at the same moment', async () => {
    const on = await start({ situation: 'blocked' })
    const asked = () => on.cluster.server.peek(nodeStates, { name: 'w1' })?.metadata.annotations?.[logsAnnotation] ?? ''
    const ours = get<NodeLog & ConsoleError>(on, 'nodes/w1/log?full=1')
    await expect.poll(asked).not.toBe('')
    const question = JSON.stringify({ request: 'theirs', bytes: 1_000 })
    const body = { metadata: { annotations: { [logsAnnotation]: question } } }
    await on.person.patch(nodeStates, { name: 'w1' }, { type: 'merge', body }, new AbortController().signal)
    on.setSpeed(20)
    const others = ['?full=1', '?full=1&step=upgrade-kubelet'].map((wish) =>
      get<NodeLog & ConsoleError>(on, `nodes/w1/log${wish}`),
    )
    const told = await Promise.all([ours, ...others])
    expect(told.map(({ message, entries }) => message ?? entries[0]?.step)).toEqual(['all', 'all', 'upgrade-kubelet'])
  })

  it('a plan by the engine of slipway plan, one at a time, kept for the next who looks', async () => {
    const on = await start({ situation: 'fresh' })
    const manifest =
      'apiVersion: slipway.dev/v1alpha1\nkind: DirectUpdate\nmetadata: { name: next }\nspec: { kubernetes: { version: v1.36.3 } }\n'
    const [first, second] = await Promise.all([
      post<PlanAnswer>(on, 'plans', { manifest }),
      post<PlanAnswer & ConsoleError>(on, 'plans', { manifest }),
    ])
    expect(first).toMatchObject({ status: 200, update: 'next', nodes: 12, target: 'v1.36.3', manifest })
    expect(first.durations).toHaveLength(first.rehearsals)
    expect(first.waves.map(({ title, total }) => [title, total])).toEqual([
      ['control plane', 3],
      ['workers', 9],
    ])
    expect(first.waves[1]?.endSeconds).toBeGreaterThan(first.waves[1]?.startSeconds ?? Infinity)
    expect(second).toMatchObject({ status: 409, message: 'another plan is being made' })
    expect(await get<PlanAnswer[]>(on, 'plans')).toEqual([expect.objectContaining({ id: first.id })])
  })
})
