import type { DemoOptions, RolloutFigures } from '../../cli/dependencies.ts'
import type { ProgressSink } from '../../cli/progress/sink.ts'
import type { Clock } from '../../ports/clock.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { DemoStory } from '../simulation/demo.ts'
import { Rollout } from '../simulation/rollout.ts'

/** How often the picture changes on a terminal, and how much simulated time passes between two looks without one. */
const frameMs = 200
const stepMs = 500
/** A demo that has not ended by then never will. */
const limitMs = 4 * 3_600_000

export async function demoRole(
  deps: { readonly clock: Clock; readonly version: string },
  options: DemoOptions,
  sink: ProgressSink,
  signal: AbortSignal,
): Promise<RolloutFigures> {
  const { nodes, seed, speed } = options
  const rollout = new Rollout(
    { nodes, seed, podsPerNode: 5, maxUnavailable: '25%', log: silentLog, version: deps.version },
    signal,
  )
  const story = new DemoStory(rollout, signal)
  const { clock } = rollout.simulated.cluster
  await rollout.bringUp()
  await story.prepare()
  await rollout.start()
  const endMs = clock.monotonicMs() + limitMs
  const paced = Number.isFinite(speed)
  while (!signal.aborted && clock.monotonicMs() < endMs) {
    const over = await rollout.advance(paced ? frameMs * speed : stepMs)
    for (const note of await story.proceed()) sink.note(clock.now(), note)
    const snapshot = rollout.snapshot()
    if (snapshot) sink.show(snapshot)
    if (over) break
    if (paced) await new Promise<void>((resolve) => deps.clock.after(frameMs, resolve))
  }
  return rollout.figures()
}
