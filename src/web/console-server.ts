// The console of one cluster for one person: every address there is, and what answers it.

import type { ConsoleState } from '../api/console.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { HttpAnswer, HttpRequest, HttpServer } from '../ports/http-server.ts'
import { type ActionDesk, actionRequest } from './actions.ts'
import { failureAnswer, guardHeaders, json } from './answers.ts'
import { ClusterWatch, type WatchDependencies } from './cluster-watch.ts'
import { ConsoleModel } from './console-model.ts'
import { refusalOf } from './guard.ts'
import type { NodeQuestions } from './node-questions.ts'
import { type PlanDesk, planRequest } from './plan-desk.ts'
import { reportOf } from './report.ts'
import type { RightsDesk } from './rights.ts'
import { type StaticFiles, staticAnswer } from './static-file.ts'
import { StreamHub } from './stream-hub.ts'

export interface ConsoleDependencies extends WatchDependencies {
  readonly server: HttpServer
  readonly files: StaticFiles
  /** Of the printed URL. */
  readonly token: string
  readonly cluster: Omit<ConsoleState['cluster'], 'kubernetes'>
  readonly questions: NodeQuestions
  readonly rights: RightsDesk
  readonly actions: ActionDesk
  readonly plans: PlanDesk
}

export interface RunningConsole {
  readonly port: number
  readonly url: string
  readonly hub: StreamHub
}

const maxBodyBytes = 256 * 1024
const versionEveryMs = 30_000
/** So long the first look may take before the page is served without it. */
const patienceMs = 3_000

/** Resolves when it listens; runs until aborted. */
export async function serveConsole(
  deps: ConsoleDependencies,
  port: number,
  signal: AbortSignal,
): Promise<RunningConsole> {
  const { clock, clusterClock, server, token } = deps
  const hub = new StreamHub(clock)
  const watch = new ClusterWatch(deps)
  const console = { told: undefined as Uint8Array | undefined }
  const model = new ConsoleModel({
    ...{ watch, clock, clusterClock, cluster: { ...deps.cluster, kubernetes: '' } },
    onChange: (change) => {
      console.told = undefined
      if (hub.open > 0) hub.tell(hub.event('change', change))
    },
  })
  void watch.run(signal)
  followVersion(deps, model, signal)
  model.tick(signal)
  hub.ping(() => clusterClock.now(), signal)
  signal.addEventListener('abort', () => hub.close(), { once: true })
  await Promise.race([watch.ready(), new Promise<void>((resolve) => clock.after(patienceMs, resolve))])
  model.flush()
  const stream = (): HttpAnswer => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
    body: {
      stream: (out, gone) => {
        model.flush()
        console.told ??= hub.event('state', model.state())
        hub.add(out, console.told, gone)
        // Where nothing changed for hours the text is as old as that; what time it is must be new.
        out.write(hub.event('ping', { at: clusterClock.now().toISOString() }))
      },
    },
  })
  let ownPort = port
  const answer = async (request: HttpRequest): Promise<HttpAnswer> => {
    const refused = refusalOf(request, token, ownPort)
    if (refused) {
      const { status, ...told } = refused
      return guarded(json(told, status))
    }
    try {
      const found = request.path === '/api/stream' ? stream() : await routed(deps, model, request)
      return guarded(found)
    } catch (error) {
      return guarded(failureAnswer(error))
    }
  }
  ownPort = (await server.listen(port, answer, signal)).port
  return { port: ownPort, url: `http://127.0.0.1:${ownPort}/?token=${token}#/fleet`, hub }
}

async function routed(deps: ConsoleDependencies, model: ConsoleModel, request: HttpRequest): Promise<HttpAnswer> {
  const { method, path, query, signal } = request
  const { questions, rights, actions, plans, files } = deps
  const isAsked = method === 'GET' || method === 'HEAD'
  if (!path.startsWith('/api/')) {
    const file = isAsked ? staticAnswer(files, request) : undefined
    return file ?? notThere(request)
  }
  const [kind, name, rest] = path.slice('/api/'.length).split('/').map(plainText)
  switch (`${method} ${kind}`) {
    case 'GET nodes': {
      const tile = model.tile(name ?? '')
      if (!tile) return notThere(request)
      if (rest === undefined) return json(await questions.detail(tile, signal))
      return rest === 'log' ? json(await questions.log(tile.name, logWish(query), signal)) : notThere(request)
    }
    case 'GET rights':
      return json(await rights.of(signal))
    case 'GET plans':
      return json(plans.kept())
    case 'POST plans':
      return json(await plans.make(planRequest(await bodyOf(request)), signal))
    case 'POST actions': {
      const done = await actions.carryOut(actionRequest(await bodyOf(request)), signal)
      return json(done)
    }
    case 'GET report': {
      const update = (name ?? '').replace(/\.json$/, '')
      const report = json(await reportOf(deps.api, update, deps.clusterClock.now(), signal))
      const file = `slipway-${update.replaceAll(/[^A-Za-z0-9.-]/g, '-')}.json`
      return { ...report, headers: { ...report.headers, 'content-disposition': `attachment; filename="${file}"` } }
    }
    default:
      return notThere(request)
  }
}

function logWish(query: URLSearchParams) {
  const step = query.get('step')
  return { ...(step !== null && { step }), full: query.get('full') === '1' }
}

function plainText(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new SlipwayError('Usage', 'the address is not well formed', { nextStep: 'go back to the page' })
  }
}

async function bodyOf(request: HttpRequest): Promise<unknown> {
  const text = await request.readBody(maxBodyBytes)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SlipwayError('Usage', 'the body is not JSON', { nextStep: 'send JSON', cause })
  }
}

function notThere({ path }: HttpRequest): HttpAnswer {
  return json({ code: 'NotFound', message: `there is nothing at ${path}`, nextStep: 'go back to the page' }, 404)
}

function guarded(answer: HttpAnswer): HttpAnswer {
  return { ...answer, headers: { ...guardHeaders, ...answer.headers } }
}

/** An upgrade changes the version of the API server under our eyes. */
function followVersion({ api, clock }: ConsoleDependencies, model: ConsoleModel, signal: AbortSignal): void {
  const look = () => {
    if (signal.aborted) return
    clock.after(versionEveryMs, look)
    api.serverVersion(signal).then(
      (version) => model.setKubernetes(version),
      // The watch tells of an API that is away.
      () => undefined,
    )
  }
  look()
}
