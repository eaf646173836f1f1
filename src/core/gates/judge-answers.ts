// What servers answer to gates, read once and judged: Prometheus, Alertmanager, any other.

import type { GateSpec } from '../../api/gate.ts'
import { alertsSchema, prometheusAnswerSchema } from '../../api/gate-answers.ts'
import type { Look } from './gate.ts'
import { some } from './judge-objects.ts'

export interface Answer {
  readonly status: number
  readonly body: string
}

type Bounds = Pick<GateSpec, 'max' | 'min' | 'equals' | 'whenEmpty'>

export function judgePrometheus(answer: Answer, bounds: Bounds): Look {
  const parsed = prometheusAnswerSchema.safeParse(jsonOf(answer.body))
  if (!parsed.success) return { state: 'unknown', message: `Prometheus ${answered(answer)}` }
  const { status, errorType, error, data } = parsed.data
  if (status === 'error') {
    // Only the query itself can be at fault for good; a time-out or an overload may pass.
    const state = errorType === 'bad_data' ? 'broken' : 'unknown'
    return {
      state,
      message: `Prometheus refuses the query (${errorType ?? answer.status}): ${error ?? 'no reason given'}`,
    }
  }
  if (data?.resultType !== 'vector' && data?.resultType !== 'scalar') {
    return { state: 'broken', message: `the query gives a ${data?.resultType ?? 'nothing'}: it must give numbers now` }
  }
  const samples = data.resultType === 'scalar' ? [{ metric: {}, value: data.result }] : data.result
  if (samples.length === 0) {
    return bounds.whenEmpty === 'Pass'
      ? { state: 'holds' }
      : { state: 'unknown', message: 'the query gives no value at all (whenEmpty: Pass lets that count as good)' }
  }
  const wrong: string[] = []
  for (const { metric, value } of samples) {
    const number = numberOf(value[1])
    if (Number.isNaN(number)) {
      return { state: 'unknown', message: `the query gives ${value[1]} for ${labelsOf(metric)}: that is no number` }
    }
    if (!isWithin(number, bounds)) wrong.push(`${labelsOf(metric)} = ${value[1]}`)
  }
  return wrong.length === 0
    ? { state: 'holds' }
    : { state: 'fails', message: `${some(wrong)}; it must be ${wanted(bounds)}` }
}

export function judgeAlerts(answer: Answer): Look {
  if (answer.status === 400) {
    return { state: 'broken', message: `Alertmanager refuses the matchers: ${excerpt(answer.body)}` }
  }
  const parsed = alertsSchema.safeParse(jsonOf(answer.body))
  if (answer.status !== 200 || !parsed.success) return { state: 'unknown', message: `Alertmanager ${answered(answer)}` }
  const names = [...new Set(parsed.data.map(({ labels }) => labels.alertname ?? 'an alert without a name'))]
  if (names.length === 0) return { state: 'holds' }
  return { state: 'fails', message: `${some(names)} ${names.length === 1 ? 'is' : 'are'} firing` }
}

export function judgeHttp(
  answer: Answer,
  { expectStatus, expectBody }: Pick<GateSpec, 'expectStatus' | 'expectBody'>,
): Look {
  const { status, body } = answer
  const good = expectStatus ? expectStatus.includes(status) : status >= 200 && status < 300
  if (!good) {
    return { state: 'fails', message: `${answered(answer)}; expected ${expectStatus?.join(' or ') ?? '200 to 299'}` }
  }
  if (expectBody === undefined || body.includes(expectBody)) return { state: 'holds' }
  return { state: 'fails', message: `answered without "${expectBody}": ${excerpt(body)}` }
}

/** Prometheus writes infinity in its own way. */
function numberOf(text: string): number {
  return Number(text.replace(/Inf$/, 'Infinity'))
}

function isWithin(value: number, { max, min, equals }: Bounds): boolean {
  return (
    (max === undefined || value <= max) &&
    (min === undefined || value >= min) &&
    (equals === undefined || value === equals)
  )
}

function wanted({ max, min, equals }: Bounds): string {
  const parts = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(equals === undefined ? [] : [`${equals}`]),
  ]
  return parts.join(' and ')
}

function labelsOf(metric: Readonly<Record<string, string>>): string {
  const { __name__: name = '', ...labels } = metric
  const text = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
  return text.length === 0 ? name || 'the value' : `${name}{${text.slice(0, 4).join(',')}}`
}

function answered({ status, body }: Answer): string {
  return `answered ${status}${body === '' ? '' : `: ${excerpt(body)}`}`
}

function excerpt(body: string): string {
  const line = body.replaceAll(/\s+/g, ' ').trim()
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
