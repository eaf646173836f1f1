// Speaks with one Alertmanager: sets, prolongs, ends and finds silences.

import { type FoundSilence, type SilenceSpec, silenceCreatedSchema, silenceListSchema } from '../../api/silence.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { entryName, type SetSilence, type SilenceOwner, silenceBody } from '../../core/silence/silence.ts'
import type { WebAnswer, WebRequest } from '../../ports/web.ts'
import { readConfigKey, readSecretKey } from '../cluster/read-key.ts'
import type { OperatorPorts } from '../ports.ts'

const answerMs = 10_000

export interface AlertmanagerOptions {
  readonly ports: OperatorPorts
  readonly namespace: string
  readonly spec: SilenceSpec
}

/** Sets one, or prolongs the one that is known. */
export async function setSilence(
  options: AlertmanagerOptions,
  owner: SilenceOwner,
  known: SetSilence | undefined,
  signal: AbortSignal,
): Promise<SetSilence> {
  const now = options.ports.clock.now()
  const body = silenceBody(options.spec, owner, now, known)
  const answer = await ask(options, { method: 'POST', path: '/silences', body }, signal)
  // It lapsed, or somebody ended it: another is set.
  if (known && (answer.status === 404 || answer.status === 400)) {
    return setSilence(options, owner, undefined, signal)
  }
  const { data } = silenceCreatedSchema.safeParse(json(good(answer).body))
  if (!data) throw new SlipwayError('CannotReach', 'Alertmanager answered, but named no silence')
  const startsAt = data.silenceID === known?.id ? known.startsAt : now.toISOString()
  return { id: data.silenceID, startsAt }
}

export async function endSilence(options: AlertmanagerOptions, id: string, signal: AbortSignal): Promise<void> {
  const answer = await ask(options, { method: 'DELETE', path: `/silence/${encodeURIComponent(id)}` }, signal)
  // Over already.
  if (answer.status !== 404 && answer.status !== 500) good(answer)
}

export async function findSilences(
  options: AlertmanagerOptions,
  signal: AbortSignal,
): Promise<readonly FoundSilence[]> {
  const answer = await ask(options, { method: 'GET', path: '/silences' }, signal)
  // More than anybody reads is cut: then those of an earlier leader lapse by themselves.
  return silenceListSchema.safeParse(json(good(answer).body)).data ?? []
}

async function ask(
  { ports, namespace, spec }: AlertmanagerOptions,
  { path, ...request }: Pick<WebRequest, 'method' | 'body'> & { readonly path: string },
  signal: AbortSignal,
): Promise<WebAnswer> {
  const { web, api } = ports
  if (!web) throw new SlipwayError('CannotReach', 'this operator has no way to ask a server')
  const url = `${spec.url.replace(/\/+$/, '')}/api/v2${path}`
  if (!URL.canParse(url)) throw new SlipwayError('CannotReach', `the url of ${entryName(spec)} is no valid URL`)
  const [token, ca] = await Promise.all([
    spec.bearerToken && readSecretKey(api, namespace, spec.bearerToken, signal),
    spec.ca && readConfigKey(api, namespace, spec.ca, signal),
  ])
  const headers = {
    ...(request.body !== undefined && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const answer = await web.request(
    { ...request, url, headers, timeoutMs: answerMs, ...(ca !== undefined && { ca }) },
    signal,
  )
  // A server may repeat in its answer what it was told.
  return token ? { ...answer, body: answer.body.replaceAll(token, '(the token)') } : answer
}

function good(answer: WebAnswer): WebAnswer {
  if (answer.status >= 200 && answer.status < 300) return answer
  throw new SlipwayError('CannotReach', `Alertmanager answered ${answer.status}: ${answer.body.slice(0, 200)}`)
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
