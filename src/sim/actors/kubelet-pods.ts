import { type Condition, type Pod, pods as podType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { hasEnded, isReady } from './actor.ts'
import type { KubeletOptions } from './kubelet-options.ts'

/** What looking after pods takes, on whichever node they are. */
type PodOptions = Pick<
  KubeletOptions,
  'api' | 'clock' | 'random' | 'containers' | 'isSick' | 'podStartMs' | 'podStopMs' | 'jobMs'
>

type Stage = 'starting' | 'running' | 'finishing' | 'stopping'

interface PodLife {
  pod: Pod
  stage: Stage
  cancel: CancelTimer
}

const retryMs = 1000

/** The lives of the pods on one node: started, run, finished, stopped. */
export class KubeletPods {
  readonly #options: PodOptions
  readonly #failed: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #lives = new Map<string, PodLife>()

  constructor(options: PodOptions, failed: (error: unknown) => void, signal: AbortSignal) {
    this.#options = options
    this.#failed = failed
    this.#signal = signal
  }

  see(after: Pod | undefined, before: Pod | undefined): void {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#forget(before.metadata.uid)
    if (after === undefined) return
    const { uid } = after.metadata
    const life = this.#lives.get(uid)
    if (life !== undefined) life.pod = after
    if (after.metadata.deletionTimestamp !== undefined) {
      if (life?.stage !== 'stopping') this.#stop(after)
    } else if (life === undefined && !hasEnded(after)) this.#begin(after)
    // Another's word, or our own of before it ran again that was late: a pod that runs is ready.
    else if (life?.stage === 'running' && before !== undefined && isReady(before) && !isReady(after)) {
      this.#postReady(life)
    }
  }

  #begin(pod: Pod): void {
    const { containers, podStartMs, random } = this.#options
    const life: PodLife = { pod, stage: 'running', cancel: () => undefined }
    this.#lives.set(pod.metadata.uid, life)
    if (containers.isRunning(pod.metadata.uid)) {
      this.#started(life)
      return
    }
    life.stage = 'starting'
    // The machine came up without it: what the API says of the time before is not true any more.
    if (isReady(pod)) this.#post(life, () => ({ conditions: this.#conditions(life.pod, 'False') }))
    this.#after(life, drawn(random, podStartMs), () => {
      containers.start(life.pod)
      this.#started(life)
    })
  }

  #started(life: PodLife): void {
    life.stage = 'running'
    if (life.pod.status?.phase !== 'Running' || !isReady(life.pod)) this.#postReady(life)
    if ((life.pod.spec.restartPolicy ?? 'Always') === 'Always') return
    const { jobMs, random, containers } = this.#options
    this.#after(life, drawn(random, jobMs), () => {
      life.stage = 'finishing'
      containers.stop(life.pod.metadata.uid, 0, () => undefined)
      this.#post(life, () => ({ phase: 'Succeeded', conditions: this.#conditions(life.pod, 'False') }))
    })
  }

  #stop(pod: Pod): void {
    const { uid, deletionGracePeriodSeconds } = pod.metadata
    this.#lives.get(uid)?.cancel()
    const life: PodLife = { pod, stage: 'stopping', cancel: () => undefined }
    this.#lives.set(uid, life)
    const { containers, podStopMs, random } = this.#options
    const graceMs = (deletionGracePeriodSeconds ?? 30) * 1000
    const left = containers.stop(uid, graceMs, () => this.#remove(life))
    if (left === 'gone') this.#after(life, Math.min(graceMs, drawn(random, podStopMs)), () => this.#remove(life))
  }

  #remove(life: PodLife): void {
    const { name, namespace = '', uid } = life.pod.metadata
    if (this.#signal.aborted || this.#lives.get(uid) !== life) return
    const removed = this.#options.api.delete(podType, { name, namespace }, { gracePeriodSeconds: 0, uid }, this.#signal)
    removed.catch((error: unknown) => this.#missed(error, life, () => this.#remove(life)))
  }

  #postReady(life: PodLife): void {
    if (this.#options.isSick?.(life.pod)) return
    this.#post(life, () => ({
      phase: 'Running',
      startTime: life.pod.status?.startTime ?? this.#now(),
      conditions: this.#conditions(life.pod, 'True'),
    }))
  }

  #post(life: PodLife, status: () => Partial<NonNullable<Pod['status']>>): void {
    const { name, namespace = '', uid } = life.pod.metadata
    const { stage } = life
    if (this.#signal.aborted || this.#lives.get(uid) !== life) return
    const patch = { type: 'merge', body: { metadata: { uid }, status: status() } } as const
    this.#options.api.patch(podType, { name, namespace }, patch, this.#signal, 'status').catch((error: unknown) => {
      this.#missed(error, life, () => life.stage === stage && this.#post(life, status))
    })
  }

  #missed(error: unknown, life: PodLife, again: () => void): void {
    if (this.#signal.aborted || isKubeError(error, 'NotFound', 'Conflict')) return
    if (!isKubeError(error)) {
      this.#failed(error)
      return
    }
    this.#options.clock.after(retryMs, () => {
      if (this.#lives.get(life.pod.metadata.uid) === life) again()
    })
  }

  #forget(uid: string): void {
    const life = this.#lives.get(uid)
    life?.cancel()
    this.#lives.delete(uid)
    this.#options.containers.stop(uid, 0, () => undefined)
  }

  #after(life: PodLife, ms: number, work: () => void): void {
    life.cancel = this.#options.clock.after(ms, () => {
      if (!this.#signal.aborted) work()
    })
  }

  #conditions(pod: Pod, ready: 'True' | 'False'): readonly Condition[] {
    const now = this.#now()
    const others = pod.status?.conditions?.filter(({ type }) => type !== 'Ready' && type !== 'ContainersReady') ?? []
    return [
      ...others,
      { type: 'Ready', status: ready, lastTransitionTime: now },
      { type: 'ContainersReady', status: ready, lastTransitionTime: now },
    ]
  }

  #now(): string {
    return this.#options.clock.now().toISOString()
  }
}

function drawn(random: Random, [min, max]: readonly [number, number]): number {
  return min + random.next() * (max - min)
}
