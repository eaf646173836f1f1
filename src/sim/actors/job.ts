import { type Job, jobs as jobType } from '../../api/kube.ts'
import { type ActorContext, ownedBy } from './actor.ts'
import { keyOf } from './following.ts'
import { KeyedWork } from './keyed-work.ts'
import { allDone, OwnedPods } from './owned-pods.ts'

/** Runs pods until as many have succeeded as the Job asks for, or too many have failed. */
export function startJobs(context: ActorContext): void {
  const { api, clock, signal } = context
  const jobs = context.following(jobType)
  const work = new KeyedWork({ ...context, delayMs: 5, work: reconcile, failed: context.failed })
  const pods = new OwnedPods(context, jobType.kind, (key) => work.mark(key))
  jobs.subscribe((after) => after && work.mark(keyOf(after)))

  async function reconcile(key: string): Promise<void> {
    const job = jobs.get(key)
    if (job === undefined || job.metadata.deletionTimestamp !== undefined || isFinished(job)) return
    const { name, namespace, uid } = job.metadata
    const owned = pods.of(uid)
    const succeeded = owned.filter((pod) => pod.status?.phase === 'Succeeded').length
    const failed = owned.filter((pod) => pod.status?.phase === 'Failed').length
    const { active } = pods.tally(uid)
    const completions = job.spec.completions ?? 1
    const broken = failed > (job.spec.backoffLimit ?? 6)
    const missing = Math.min(completions - succeeded, job.spec.parallelism ?? 1) - active
    if (!broken && missing > 0) {
      const metadata = {
        generateName: `${name}-`,
        ...(namespace === undefined ? {} : { namespace }),
        ownerReferences: ownedBy(job, jobType),
      }
      await allDone(Array.from({ length: missing }, () => pods.create(metadata, job.spec.template)))
    }
    const now = clock.now().toISOString()
    const end = succeeded >= completions ? 'Complete' : broken ? 'Failed' : undefined
    await report(job, {
      active: pods.tally(uid).active,
      succeeded,
      failed,
      startTime: job.status?.startTime ?? now,
      ...(end === 'Complete' ? { completionTime: now } : {}),
      ...(end === undefined ? {} : { conditions: [{ type: end, status: 'True', lastTransitionTime: now }] }),
    })
  }

  async function report(job: Job, status: NonNullable<Job['status']>): Promise<void> {
    const known = job.status
    if (
      known?.active === status.active &&
      known?.succeeded === status.succeeded &&
      known?.failed === status.failed &&
      status.conditions === undefined
    ) {
      return
    }
    const { name, namespace } = job.metadata
    const ref = namespace === undefined ? { name } : { name, namespace }
    jobs.learn(await api.patch(jobType, ref, { type: 'merge', body: { status } }, signal, 'status'))
  }
}

function isFinished(job: Job): boolean {
  return job.status?.conditions?.some(({ type, status }) => type !== 'Suspended' && status === 'True') ?? false
}
