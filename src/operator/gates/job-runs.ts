// Jobs that gates and hooks run: made from the template of a CronJob, each under a name that its purpose gives, so that the
// same purpose never runs twice.

import { cronJobs, type Job, jobs } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import type { Look } from '../../core/gates/gate.ts'
import { judgeJob } from '../../core/gates/judge-objects.ts'
import { jobOf } from '../../core/hooks/job-of.ts'
import type { OperatorPorts } from '../ports.ts'
import type { SharedWatches, Watched } from './shared-watches.ts'

export interface JobWish {
  /** What it is for: the same wish has the same. */
  readonly purpose: string
  readonly cronJob: string
  readonly environment: Readonly<Record<string, string>>
  /** It runs there, cordoned or not. */
  readonly onNode?: string | undefined
  readonly timeoutMs: number
}

/** Only what is judged, however large the templates are. */
function slimJob({ metadata, status }: Job): Job {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  return {
    metadata: { name, uid, resourceVersion, creationTimestamp, ...(namespace !== undefined && { namespace }) },
    spec: { template: { spec: { containers: [] } } },
    ...(status && { status }),
  }
}

export const runLabel = 'slipway.dev/run'

export class JobRuns {
  readonly #ports: OperatorPorts
  readonly #watches: SharedWatches
  readonly #namespace: string

  constructor(ports: OperatorPorts, watches: SharedWatches, namespace: string) {
    this.#ports = ports
    this.#watches = watches
    this.#namespace = namespace
  }

  /** All Jobs of ours, until released. */
  follow(onChange: () => void): Watched<Job> {
    const selector = { matchExpressions: [{ key: runLabel, operator: 'Exists' as const }] }
    return this.#watches.use(jobs, { namespace: this.#namespace, selector }, onChange, slimJob)
  }

  /** When it was made, as far as is known. */
  madeAt({ purpose }: JobWish, followed: Watched<Job>): string | undefined {
    return followed.get(`${this.#namespace}/${nameOf(purpose)}`)?.metadata.creationTimestamp
  }

  /** Starts it where it is not there yet. Undefined while it runs. */
  async look(wish: JobWish, followed: Watched<Job>, signal: AbortSignal): Promise<Look | undefined> {
    const obstacle = followed.obstacle()
    if (obstacle) return obstacle
    const namespace = this.#namespace
    const name = nameOf(wish.purpose)
    const known = followed.get(`${namespace}/${name}`)
    if (known) return judgeJob(known)
    try {
      const { spec } = await this.#ports.api.get(cronJobs, { namespace, name: wish.cronJob }, signal)
      const job = jobOf(spec.jobTemplate, { ...wish, name, namespace, label: runLabel })
      followed.learn(slimJob(await this.#ports.api.create(jobs, job, signal)))
      return undefined
    } catch (error) {
      // The watch is behind; it will show the one that is there.
      if (isKubeError(error, 'AlreadyExists')) return undefined
      if (isKubeError(error, 'NotFound')) {
        return { state: 'unknown', message: `CronJob ${namespace}/${wish.cronJob} is not there` }
      }
      if (isKubeError(error, 'Forbidden', 'Invalid')) return { state: 'broken', message: error.message }
      // The server may be itself again in a moment; whatever it did meanwhile, the name keeps it from being done twice.
      if (isKubeError(error) && !signal.aborted) {
        return {
          state: 'unknown',
          message: `no Job can be made of CronJob ${namespace}/${wish.cronJob}: ${error.message}`,
        }
      }
      throw error
    }
  }
}

function nameOf(purpose: string): string {
  return `slipway-${fingerprint(purpose)}`
}
