import type { DemoOptions, RolloutFigures } from '../../cli/dependencies.ts'
import type { ProgressSink } from '../../cli/progress/sink.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { DemoStory, type StoryPace } from '../simulation/demo.ts'
import { demoCluster, demoNamespace, demoSpec, furnishDemo } from '../simulation/demo-cluster.ts'
import { Rollout } from '../simulation/rollout.ts'
import { simulatedPerson } from '../simulation/simulated-person.ts'

/** How often the picture changes on a terminal, and how much simulated time passes between two looks without one. */
const frameMs = 200
const stepMs = 500
/** A demo that has not ended by then never will. */
const limitMs = 4 * 3_600_000
const quickPace: StoryPace = { blockedForMs: 60_000, approvesAfterMs: 30_000 }
/** Half a minute of the one who watches, at least: time to open a page and read it. */
const watchedMs = 30_000
/** Of the cluster's time: a drain that is held up for longer ends in its own time-out. */
const longestMs = 20 * 60_000

export interface DemoDependencies {
  readonly clock: Clock
  readonly random: Random
  readonly version: string
}

export async function demoRole(
  deps: DemoDependencies,
  options: DemoOptions,
  sink: ProgressSink,
  signal: AbortSignal,
): Promise<RolloutFigures> {
  const { nodes, seed, speed, console } = options
  const rollout = new Rollout(
    {
      ...{ nodes, seed, podsPerNode: 5, maxUnavailable: '25%', log: silentLog, version: deps.version },
      ...(console && { cluster: demoCluster(nodes) }),
    },
    signal,
  )
  const { cluster } = rollout.simulated
  const { clock } = cluster
  const paced = Number.isFinite(speed)
  const watched = Math.min(watchedMs * speed, longestMs)
  const pace = paced && console ? { blockedForMs: watched, approvesAfterMs: watched } : quickPace
  const story = new DemoStory(rollout, pace, signal)
  const pause = () => new Promise<void>((resolve) => deps.clock.after(frameMs, resolve))
  await rollout.bringUp()
  if (console) await furnishDemo(rollout, signal)
  await story.prepare()
  if (console) console.onReady(await openDemoConsole(deps, rollout, console.port, signal))
  await rollout.start(console ? demoSpec : {})
  const endMs = clock.monotonicMs() + limitMs
  while (!signal.aborted && clock.monotonicMs() < endMs) {
    const over = await rollout.advance(paced ? frameMs * speed : stepMs)
    for (const note of await story.proceed()) sink.note(clock.now(), note)
    const snapshot = rollout.snapshot()
    if (snapshot) sink.show(snapshot)
    if (over) break
    if (paced) await pause()
  }
  const figures = rollout.figures()
  if (!console?.stays || signal.aborted) return figures
  console.onEnd(figures)
  // The cluster goes on, for whoever is at the console.
  while (!signal.aborted) {
    await cluster.run({ limitMs: frameMs * (paced ? speed : 1) })
    await pause()
  }
  return figures
}

async function openDemoConsole(
  { clock, random, version }: DemoDependencies,
  { simulated, person }: Rollout,
  port: number,
  signal: AbortSignal,
): Promise<string> {
  const { openConsole } = await import('../page-server/open-console.ts')
  const { readPage } = await import('../page-server/page-files.ts')
  const { url } = await openConsole(
    {
      ...{ clock, random, version, port, log: silentLog, namespace: demoNamespace, files: await readPage() },
      api: simulatedPerson(person, { name: 'you' }),
      clusterClock: simulated.cluster.clock,
      cluster: { name: 'demo', server: 'in memory', demo: true },
    },
    signal,
  )
  return url
}
