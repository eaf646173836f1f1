// How each type of gate is looked at. What the API holds is watched while somebody asks; servers are asked anew each time.

import type { GateSpec } from '../../api/gate.ts'
import { type KubeObject, pods, type ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { judgeExpression } from '../../core/gates/expression.ts'
import type { Gate, Look } from '../../core/gates/gate.ts'
import { type Answer, judgeAlerts, judgeHttp, judgePrometheus } from '../../core/gates/judge-answers.ts'
import { judgeNodes, judgePods } from '../../core/gates/judge-objects.ts'
import { environmentOf, type Subject } from '../../core/hooks/subject.ts'
import { selects } from '../../core/label-selector.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { readConfigKey, readSecretKey } from '../cluster/read-key.ts'
import { slimPod } from '../drain/slim-pod.ts'
import type { OperatorPorts } from '../ports.ts'
import type { JobRuns } from './job-runs.ts'
import type { SharedWatches } from './shared-watches.ts'

export interface LookerTools {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly holderOf: (node: string) => string | undefined
  readonly watches: SharedWatches
  readonly jobs: JobRuns
  readonly namespace: string
}

export interface Looker {
  look(signal: AbortSignal): Promise<Look>
  close(): void
}

/** A server that has not answered by then is not known. */
const answerMs = 10_000

export function openLooker(gate: Gate, subject: Subject, tools: LookerTools, onNews: () => void): Looker {
  const { spec } = gate
  switch (spec.type) {
    case 'NodeReady':
      return nodeLooker(spec, subject, tools, onNews)
    case 'PodsReady':
      return podLooker(spec, subject, tools, onNews)
    case 'Cel':
      return objectLooker(spec, subject, tools, onNews)
    case 'Job':
      return jobLooker(gate, subject, tools, onNews)
    case 'Prometheus':
      return webLooker(spec, tools, `/api/v1/query?query=${encodeURIComponent(spec.query ?? '')}`, (answer) =>
        judgePrometheus(answer, spec),
      )
    case 'Alertmanager':
      return webLooker(spec, tools, alertPath(spec.matchers ?? []), judgeAlerts)
    case 'Http':
      return webLooker(spec, tools, '', (answer) => judgeHttp(answer, spec))
  }
}

function nodeLooker(spec: GateSpec, subject: Subject, { cluster, holderOf }: LookerTools, onNews: () => void): Looker {
  const close = cluster.nodes.subscribe(onNews)
  const selected = () => [...cluster.nodes.values()].filter(({ metadata }) => selects(spec.selector, metadata.labels))
  return {
    look: async () => judgeNodes(selected(), (node) => node !== subject.node && holderOf(node) !== undefined),
    close,
  }
}

function podLooker(spec: GateSpec, { node }: Subject, { watches }: LookerTools, onNews: () => void): Looker {
  const { namespace, selector, onNode, atLeast = 1 } = spec
  const nodeName = onNode === true ? node : undefined
  const watched = watches.use(pods, { namespace, selector, nodeName }, onNews, slimPod)
  return {
    look: async () => watched.obstacle() ?? judgePods(watched.objects(), atLeast),
    close: () => watched.release(),
  }
}

function objectLooker(spec: GateSpec, subject: Subject, { watches, cluster }: LookerTools, onNews: () => void): Looker {
  const { object, expression = '' } = spec
  const scope = () => ({
    node: subject.node === undefined ? null : cluster.nodes.get(subject.node),
    wave: subject.wave ?? 0,
  })
  if (!object) {
    const close = cluster.nodes.subscribe(onNews)
    return { look: async () => judgeExpression(expression, { object: null, objects: [], ...scope() }), close }
  }
  const { apiVersion, resource, namespace, name, selector } = object
  const type: ResourceType<KubeObject> = {
    apiVersion,
    kind: resource,
    plural: resource,
    namespaced: namespace !== undefined,
  }
  const watched = watches.use(type, { namespace, name, selector }, onNews)
  const judge = (): Look => {
    const objects = watched.objects()
    const [first = null] = objects
    if (name !== undefined && first === null) {
      return {
        state: 'unknown',
        message: `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name} is not there`,
      }
    }
    return judgeExpression(expression, { object: first, objects, ...scope() })
  }
  return { look: async () => watched.obstacle() ?? judge(), close: () => watched.release() }
}

function jobLooker(gate: Gate, subject: Subject, { jobs }: LookerTools, onNews: () => void): Looker {
  const followed = jobs.follow(onNews)
  const { cronJob = '', onNode } = gate.spec
  const { operation, node, wave, attempt } = subject
  const wish = {
    // Another CronJob is another Job: who corrects the name is not held up by what the first one came to.
    purpose: ['gate', gate.name, gate.when, operation, node, wave, attempt, cronJob].join(' '),
    cronJob,
    environment: environmentOf(subject),
    onNode: onNode === true ? node : undefined,
    timeoutMs: gate.timeoutMs,
  }
  // After a node the next attempt on it runs another Job; elsewhere this one stands for as long as it is there.
  const stands = () => gate.when !== 'AfterNode' && jobs.madeAt(wish, followed) !== undefined
  return {
    look: async (signal) => {
      const look = await jobs.look(wish, followed, signal)
      if (!look) return { state: 'unknown', message: `the Job made of CronJob ${cronJob} runs` }
      if (look.state !== 'broken' || !stands()) return look
      return { ...look, message: `${look.message}, and delete it to have it run again` }
    },
    close: () => followed.release(),
  }
}

function webLooker(spec: GateSpec, tools: LookerTools, path: string, judge: (answer: Answer) => Look): Looker {
  const url = `${path === '' ? spec.url : spec.url?.replace(/\/+$/, '')}${path}`
  return {
    look: async (signal) => {
      let token: string | undefined
      // A server may repeat in its answer what it was told.
      const hushed = (message: string) => (token ? message.replaceAll(token, '(the token)') : message)
      try {
        const { web } = tools.ports
        if (!web) return { state: 'broken', message: 'this operator has no way to ask a server' }
        const { api } = tools.ports
        token = spec.bearerToken && (await readSecretKey(api, tools.namespace, spec.bearerToken, signal))
        const ca = spec.ca && (await readConfigKey(api, tools.namespace, spec.ca, signal))
        const answer = await web.request(
          {
            method: 'GET',
            url,
            timeoutMs: answerMs,
            ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
            ...(ca !== undefined && { ca }),
          },
          signal,
        )
        const look = judge(answer)
        return look.state === 'holds' ? look : { ...look, message: hushed(`${hostOf(url)} ${look.message}`) }
      } catch (error) {
        if (signal.aborted) throw error
        if (error instanceof SlipwayError || isKubeError(error))
          return { state: 'unknown', message: hushed(error.message) }
        throw error
      }
    },
    close: () => undefined,
  }
}

function alertPath(matchers: readonly string[]): string {
  const filters = matchers.map((matcher) => `&filter=${encodeURIComponent(matcher)}`)
  return `/api/v2/alerts?active=true&silenced=false&inhibited=false&unprocessed=true${filters.join('')}`
}

function hostOf(url: string): string {
  return new URL(url).host
}
