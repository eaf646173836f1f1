import type { KubeObject, ResourceType } from '../../api/kube.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Random } from '../../ports/random.ts'
import { kindId } from '../server/stored-object.ts'
import type { ActorContext } from './actor.ts'
import { startAttachDetach } from './attach-detach.ts'
import { startDaemonSets } from './daemon-set.ts'
import { startDeployments } from './deployment.ts'
import { startDisruption } from './disruption.ts'
import { Following } from './following.ts'
import { startJobs } from './job.ts'
import { startNodeLifecycle } from './node-lifecycle.ts'
import { startReplicaSets } from './replica-set.ts'
import { startScheduler } from './scheduler.ts'
import { startStatefulSets } from './stateful-set.ts'

const actors = {
  scheduler: startScheduler,
  deployment: startDeployments,
  'replica-set': startReplicaSets,
  'daemon-set': startDaemonSets,
  'stateful-set': startStatefulSets,
  job: startJobs,
  disruption: startDisruption,
  'node-lifecycle': startNodeLifecycle,
  'attach-detach': startAttachDetach,
} as const satisfies Record<string, (context: ActorContext) => void>

export type ActorName = keyof typeof actors

const actorNames = Object.keys(actors) as readonly ActorName[]

/** Runs the controllers until asked to stop; an error that no retry can mend ends it. Works on a real API server too. */
export async function startControlPlane(
  api: KubeApi,
  clock: Clock,
  random: Random,
  signal: AbortSignal,
  options: { readonly which: 'all' | readonly ActorName[] },
): Promise<void> {
  const { promise: broken, reject } = Promise.withResolvers<never>()
  const followings = new Map<string, { run(signal: AbortSignal): Promise<void> }>()
  const context: ActorContext = {
    api,
    clock,
    random,
    signal,
    failed: reject,
    following: <T extends KubeObject>(type: ResourceType<T>): Following<T> => {
      const id = kindId(type)
      const known = followings.get(id)
      if (known !== undefined) return known as Following<T>
      const made = new Following(api, clock, type)
      followings.set(id, made)
      return made
    },
  }
  for (const name of options.which === 'all' ? actorNames : options.which) actors[name](context)
  await Promise.race([Promise.all([...followings.values()].map((following) => following.run(signal))), broken])
}
