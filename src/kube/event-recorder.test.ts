import { describe, expect, test } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { events } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import { EventRecorder } from './event-recorder.ts'

function start() {
  const api = new FakeKubeApi()
  const clock = new ManualClock()
  const log = new RecordingLog()
  const recorder = new EventRecorder({
    api,
    clock,
    random: fixedRandom(),
    log,
    controller: 'slipway.dev/operator',
    instance: 'operator-1',
    namespace: 'default',
  })
  const stop = new AbortController()
  const running = recorder.run(stop.signal)
  const regarding = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' }
  const say = (note: string) => recorder.record({ regarding, type: 'Normal', reason: 'Planned', action: 'Plan', note })
  const end = async () => {
    stop.abort()
    await clock.advance(5_000)
    await running
    expect(clock.pendingTimers).toBe(0)
  }
  const sent = () => api.stored(events)
  return { api, clock, log, say, end, sent, stop, running }
}

describe('EventRecorder', () => {
  test('writes an event where the API wants it', async () => {
    const { clock, say, sent, end } = start()
    say('hello')
    await clock.advance(1)
    expect(sent()).toMatchObject([
      {
        metadata: { namespace: 'default', name: 'n1.8000000000000001' },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'slipway.dev/operator',
        note: 'hello',
      },
    ])
    await end()
  })

  test('the same again is a series: counted, told at most once a minute', async () => {
    const { api, clock, say, sent, end } = start()
    for (let i = 0; i < 100; i += 1) {
      say('waiting')
      await clock.advance(1_000)
    }
    await clock.advance(60_000)
    expect(api.requests).toEqual(['create', 'patch', 'patch'])
    expect(sent()[0]?.series?.count).toBe(100)
    await end()
  })

  test('after ten quiet minutes it is a new event; another note is another event', async () => {
    const { clock, say, sent, end } = start()
    say('a')
    say('b')
    await clock.advance(10 * 60_000)
    say('a')
    await clock.advance(1)
    expect(sent().map((event) => event.note)).toEqual(['a', 'b', 'a'])
    await end()
  })

  test('an outage is waited out, and a create that took effect is not repeated under another name', async () => {
    const { api, clock, log, say, sent, end } = start()
    let left = 2
    api.after = () => {
      left -= 1
      if (left >= 0) throw new KubeError('Timeout', 'no answer')
    }
    say('a')
    await clock.advance(10_000)
    expect(sent()).toHaveLength(1)
    expect(log.messages('warn')).toEqual([])
    await end()
  })

  test('said again while the series is being told, it waits for the next minute', async () => {
    const { api, clock, say, sent, end } = start()
    api.before = (request) => {
      if (request === 'patch') say('a')
    }
    say('a')
    await clock.advance(1_000)
    say('a')
    await clock.advance(60_000)
    expect(api.requests).toEqual(['create', 'patch'])
    api.before = () => {}
    await clock.advance(60_000)
    expect(api.requests).toEqual(['create', 'patch', 'patch'])
    expect(sent()[0]?.series?.count).toBe(3)
    await end()
  })

  test('what is refused is dropped and said so; the caller never notices', async () => {
    const { api, clock, log, say, end } = start()
    api.before = () => {
      throw new KubeError('Forbidden', 'no', { status: 403 })
    }
    say('a')
    await clock.advance(60_000)
    expect(api.requests).toEqual(['create'])
    expect(log.messages('warn')).toEqual(['event dropped'])
    await end()
  })

  test('a flood is bounded', async () => {
    const { clock, log, say, sent, end } = start()
    for (let i = 0; i < 3_000; i += 1) say(`note ${i}`)
    await clock.advance(1)
    expect(sent()).toHaveLength(2_000)
    expect(log.messages('warn')).toEqual(['events dropped, too many at once'])
    await end()
  })

  test('long notes are cut to what the API accepts, at a character', async () => {
    const { clock, say, sent, end } = start()
    say('ü'.repeat(2_000))
    await clock.advance(1)
    const note = sent()[0]?.note ?? ''
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024)
    expect(note).toMatch(/^ü+…$/)
    await end()
  })

  test('what is still unsent when it stops is flushed', async () => {
    const { clock, say, sent, stop, running } = start()
    say('a')
    say('last words')
    stop.abort()
    await clock.advance(1)
    await running
    expect(sent()).toHaveLength(2)
  })
})
