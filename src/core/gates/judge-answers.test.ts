import { describe, expect, it } from 'vitest'
import { judgeAlerts, judgeHttp, judgePrometheus } from './judge-answers.ts'

const json = (body: unknown, status = 200) => ({ status, body: JSON.stringify(body) })
const vector = (...values: readonly string[]) =>
  json({
    status: 'success',
    data: {
      resultType: 'vector',
      result: values.map((value, index) => ({ metric: { __name__: 'errors', pod: `p${index}` }, value: [1, value] })),
    },
  })

describe('what Prometheus says', () => {
  it.each([
    ['within the bounds', vector('0', '2'), { max: 2, min: 0 }],
    ['equal', vector('1'), { equals: 1 }],
    ['a scalar', json({ status: 'success', data: { resultType: 'scalar', result: [1, '3'] } }), { max: 3 }],
    ['nothing, where that is good', vector(), { max: 0, whenEmpty: 'Pass' as const }],
  ])('holds: %s', (_what, answer, bounds) => {
    expect(judgePrometheus(answer, bounds)).toEqual({ state: 'holds' })
  })

  it.each([
    ['too much', vector('0', '3'), { max: 2 }, 'fails', 'errors{pod="p1"} = 3; it must be at most 2'],
    ['too little', vector('0'), { min: 1 }, 'fails', 'it must be at least 1'],
    ['infinitely much', vector('+Inf'), { max: 2 }, 'fails', '+Inf'],
    ['another number', vector('2'), { equals: 1 }, 'fails', 'it must be 1'],
    ['no number', vector('NaN'), { max: 2 }, 'unknown', 'that is no number'],
    ['nothing', vector(), { max: 2 }, 'unknown', 'no value at all'],
    [
      'a wrong query',
      json({ status: 'error', errorType: 'bad_data', error: 'parse error' }, 400),
      {},
      'broken',
      'parse error',
    ],
    ['a time-out', json({ status: 'error', errorType: 'timeout', error: 'too slow' }, 503), {}, 'unknown', 'too slow'],
    [
      'a range',
      json({ status: 'success', data: { resultType: 'matrix', result: [] } }),
      {},
      'broken',
      'gives a matrix',
    ],
    ['a page of a proxy', { status: 502, body: '<html>Bad gateway</html>' }, {}, 'unknown', 'answered 502'],
  ])('does not hold: %s', (_what, answer, bounds, state, words) => {
    const look = judgePrometheus(answer, bounds)
    expect(look.state).toBe(state)
    expect(look.state !== 'holds' && look.message).toContain(words)
  })
})

describe('what Alertmanager says', () => {
  it.each([
    [json([]), { state: 'holds' }],
    [json([{ labels: { alertname: 'NodeDown' } }]), { state: 'fails', message: 'NodeDown is firing' }],
    [
      { status: 400, body: 'bad matcher' },
      { state: 'broken', message: 'Alertmanager refuses the matchers: bad matcher' },
    ],
    [
      { status: 500, body: '' },
      { state: 'unknown', message: 'Alertmanager answered 500' },
    ],
    [json({ not: 'a list' }), { state: 'unknown' }],
  ])('%#', (answer, look) => {
    expect(judgeAlerts(answer)).toMatchObject(look)
  })
})

describe('what any server says', () => {
  it.each([
    [{ status: 204, body: '' }, {}, 'holds'],
    [{ status: 302, body: '' }, {}, 'fails'],
    [{ status: 418, body: '' }, { expectStatus: [418] }, 'holds'],
    [{ status: 200, body: '' }, { expectStatus: [418] }, 'fails'],
    [{ status: 200, body: '{"ready":true}' }, { expectBody: '"ready":true' }, 'holds'],
    [{ status: 200, body: '{"ready":false}' }, { expectBody: '"ready":true' }, 'fails'],
  ])('%#', (answer, expected, state) => {
    expect(judgeHttp(answer, expected).state).toBe(state)
  })
})
