// The demo with its console: the upgrade ends well with all its waves, and whoever stays has a cluster to play with.

import { expect, test } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import type { RolloutFigures } from '../../src/cli/dependencies.ts'
import { demoRole } from '../../src/main/roles/demo-role.ts'
import { readStream } from './stream-reader.ts'

const deps = { clock: new SystemClock(), random: new SystemRandom(), version: '0.1.0' }

test('it stays until it is stopped, and the person at the console is heard after the end, too', async () => {
  const notes: string[] = []
  const sink = { show: () => {}, note: (_at: Date, text: string) => notes.push(text), end: () => {} }
  const stop = new AbortController()
  const ready = Promise.withResolvers<URL>()
  const ended = Promise.withResolvers<RolloutFigures>()
  const console = {
    ...{ port: 0, stays: true, onEnd: ended.resolve },
    onReady: (url: string) => ready.resolve(new URL(url)),
  }
  const running = demoRole(deps, { nodes: 12, seed: 1, speed: 200, console }, sink, stop.signal)
  const url = await ready.promise
  const at = { port: Number(url.port), token: url.searchParams.get('token') ?? '' }
  const reader = await readStream(at)
  expect(reader.state.cluster).toMatchObject({ name: 'demo', demo: true })
  expect(reader.state.policy.stores.map(({ name }) => name)).toEqual(['nightly'])
  expect(reader.state.policy.calendar.freezes).toHaveLength(1)
  expect(reader.state.runs.map(({ phase }) => phase)).toContain('Succeeded')
  await expect.poll(() => reader.state.updates['to-1-36']?.waves.length).toBe(4)
  const send = (body: object) =>
    fetch(`http://127.0.0.1:${at.port}/api/actions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await expect.poll(() => reader.state.causes.map(({ code }) => code), { timeout: 60_000 }).toContain('ApprovalWanted')
  expect((await send({ action: 'approve', update: 'to-1-36' })).status).toBe(200)
  expect(await ended.promise).toMatchObject({ phase: 'Succeeded', violations: [] })
  for (const told of ['is killed', 'loses power', 'down to two replicas', 'a third replica'])
    expect(notes.join('\n')).toContain(told)
  expect((await send({ action: 'hold', nodes: ['w2'], reason: 'a disk' })).status).toBe(200)
  expect((await send({ action: 'stop-all' })).status).toBe(200)
  await expect.poll(() => reader.state.policy.paused).toBe(true)
  reader.close()
  stop.abort()
  expect(await running).toMatchObject({ phase: 'Succeeded', violations: [] })
})
