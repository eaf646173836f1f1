// The operator role: campaign for the lease, lead while it is held, stop before another can hold it.

import { SlipwayError } from '../api/slipway-error.ts'
import { EventRecorder } from '../kube/event-recorder.ts'
import { fencedApi } from '../kube/fenced-api.ts'
import { LeaderElection, type Term } from '../kube/leader-election.ts'
import { LinkedAbort } from '../kube/linked-abort.ts'
import type { Audit } from '../ports/audit.ts'
import type { BundleManifests } from '../ports/bundle-manifests.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Registry } from '../ports/registry.ts'
import type { Sealing } from '../ports/sealing.ts'
import type { Web } from '../ports/web.ts'
import { lead } from './leader.ts'
import type { OperatorMetrics } from './operator-metrics.ts'
import type { OperatorPorts } from './ports.ts'

export interface OperatorOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: OperatorMetrics
  /** Absent: no audit record is kept. */
  readonly audit?: Audit
  readonly namespace: string
  /** Of this program: agents must not be older. */
  readonly version: string
  readonly leaseName: string
  /** Unique for this process, never reused. */
  readonly identity: string
  /** The pod this process runs in, and its node; absent outside a cluster. */
  readonly podName?: string
  readonly nodeName?: string
  /** Absent: nothing secret can be brought to hosts. */
  readonly sealing?: Sealing
  /** Absent: gates, hooks, silences and notifications cannot speak with servers. */
  readonly web?: Web
  /** Absent: what a tag names is not looked up here; each host does. */
  readonly registry?: Registry
  /** Absent: what a bundle holds is not looked at from here. */
  readonly bundleManifests?: BundleManifests
}

/** How long a leader that moves away leaves the lease to others. */
const standAsideMs = 30_000

export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, random, log, namespace } = options
  const election = new LeaderElection({
    api,
    clock,
    random,
    log,
    namespace,
    name: options.leaseName,
    identity: options.identity,
  })
  await election.run((term) => serve(term, election, options), signal)
}

async function serve(term: Term, election: LeaderElection, options: OperatorOptions): Promise<void> {
  const { clock, random, log, namespace, identity, metrics, audit } = options
  const life = new LinkedAbort(term.signal)
  const { signal } = life
  const api = fencedApi(options.api, () => term.isCurrent() && !signal.aborted)
  const { sealing, web, registry, bundleManifests } = options
  const ports: OperatorPorts = {
    ...{ api, clock, random, log },
    ...(metrics && { metrics }),
    ...(audit && { audit }),
    ...(sealing && { sealing }),
    ...(web && { web }),
    ...(registry && { registry }),
    ...(bundleManifests && { bundleManifests }),
  }
  const events = new EventRecorder({
    ...ports,
    controller: 'slipway.dev/operator',
    instance: identity,
    namespace: 'default',
  })
  const stepDown = async (): Promise<void> => {
    life.abort(new SlipwayError('Stopped', 'stepping down so that another leads'))
    await election.stepDown(standAsideMs)
  }
  const recording = events.run(signal)
  metrics?.leading(true)
  try {
    await lead(
      {
        ports,
        events,
        metrics,
        identity,
        namespace,
        version: options.version,
        podName: options.podName,
        nodeName: options.nodeName,
        stepDown,
        fencedOff: () => void stepDown(),
      },
      signal,
    )
  } catch (error) {
    if (!signal.aborted) {
      log.error('the term ended early', { error })
      throw error
    }
  } finally {
    metrics?.leading(false)
    metrics?.gather(undefined)
    life.abort(new SlipwayError('Stopped', 'the term is over'))
    await recording
  }
}
