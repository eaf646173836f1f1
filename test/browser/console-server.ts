// The real server over a simulated cluster, in this process: what the tests of the page talk to.

import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { openConsole } from '../../src/main/page-server/open-console.ts'
import { readPage } from '../../src/main/page-server/page-files.ts'
import { DemoStory } from '../../src/main/simulation/demo.ts'
import { demoCluster, demoNamespace, demoSpec, furnishDemo } from '../../src/main/simulation/demo-cluster.ts'
import { Rollout } from '../../src/main/simulation/rollout.ts'
import { simulatedPerson } from '../../src/main/simulation/simulated-person.ts'
import type { Job } from '../../src/ports/host.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { SimCluster } from '../../src/sim/sim-cluster.ts'
import type { RunningConsole } from '../../src/web/console-server.ts'
import type { StaticFiles } from '../../src/web/static-file.ts'
import { type LargeFleet, largeFleet } from './large-fleet.ts'

export interface ConsoleBedOptions {
  /**
   * `blocked`: 12 nodes in the middle of an upgrade, a drain held up by a PodDisruptionBudget, and time stands still.
   * `approval`: the same cluster, its first wave done and waiting for an approval.
   * `failed`: an update `again` that stopped because its script failed on w2. `fresh`: before anything begins.
   * `large`: `nodes` nodes (5,000) in the middle of an upgrade, without an engine.
   */
  readonly situation: 'blocked' | 'approval' | 'failed' | 'fresh' | 'large'
  readonly nodes?: number
  /** What the person may do: `patch directupdates`; everything unless told. */
  readonly may?: (verb: string, resource: string) => boolean
  /** Simulated seconds per second from then on; 0 (unless told) = time stands still. */
  readonly speed?: number
  /** The page is that of `slipway demo`. */
  readonly demo?: boolean
  /** In place of the built page. */
  readonly files?: StaticFiles
}

export interface ConsoleBed {
  readonly url: string
  readonly token: string
  readonly port: number
  readonly console: RunningConsole
  readonly cluster: SimCluster
  /** As anybody at the cluster, without the console: to change what it shows. */
  readonly person: KubeApi
  readonly large: LargeFleet | undefined
  /** Lets so much simulated time pass. */
  pass(seconds: number): Promise<void>
  /** Simulated seconds per second from now on. */
  setSpeed(speed: number): void
  /** What failed would succeed from now on. */
  repair(): void
  /** The API server is away, or refuses all, and is back. */
  loseApi(why?: KubeError): void
  regainApi(): void
  /** Every stream breaks; the API server answers, but not these of the console, as where etcd has no majority. */
  breakStreams(...refused: readonly ('list' | 'watch')[]): void
  stop(): Promise<void>
}

const frameMs = 100

export async function startConsole(options: ConsoleBedOptions): Promise<ConsoleBed> {
  const stop = new AbortController()
  const { cluster, person, large, script } = await situated(options, stop.signal)
  const away = new KubeError('Unreachable', 'connect ECONNREFUSED 10.0.0.1:6443')
  let hindrance: KubeError | undefined
  const reach = () => {
    if (hindrance) throw hindrance
  }
  let refused: readonly ('list' | 'watch')[] = []
  const answers = (verb: 'list' | 'watch') => {
    if (refused.includes(verb)) throw new KubeError('ServerError', 'etcdserver: request timed out', { status: 500 })
  }
  const process = cluster.process('console', { latencyMs: [0, 0] })
  const own = simulatedPerson(process.api, { name: 'mira', reach, ...(options.may && { may: options.may }) })
  const console = await openConsole(
    {
      api: {
        ...own,
        list: async (type, selection, signal) => {
          answers('list')
          return own.list(type, selection, signal)
        },
        watch: async (type, selection, onEvent, signal) => {
          answers('watch')
          return own.watch(type, selection, onEvent, signal)
        },
      },
      clock: new SystemClock(),
      // The watches go by time that passes: that of the cluster may stand still.
      clusterClock: cluster.clock,
      random: new SystemRandom(),
      log: silentLog,
      files: options.files ?? (await readPage()),
      cluster: { name: 'test', server: 'in memory', demo: options.demo ?? false },
      version: '0.1.0',
      namespace: demoNamespace,
      port: 0,
    },
    stop.signal,
  )
  let speed = options.speed ?? 0
  const living = live(cluster, () => speed, stop.signal)
  return {
    url: console.url,
    token: new URL(console.url).searchParams.get('token') ?? '',
    port: console.port,
    ...{ console, cluster, person, large },
    pass: async (seconds) => {
      await cluster.run({ limitMs: seconds * 1000 })
    },
    setSpeed: (factor) => {
      speed = factor
    },
    repair: () => {
      script.fails = false
    },
    loseApi: (why = away) => {
      hindrance = why
      process.breakWatches()
    },
    regainApi: () => {
      hindrance = undefined
    },
    breakStreams: (...verbs) => {
      refused = verbs
      process.breakWatches()
    },
    stop: async () => {
      stop.abort()
      await living
      process.crash()
    },
  }
}

interface Situated {
  readonly cluster: SimCluster
  readonly person: KubeApi
  readonly large: LargeFleet | undefined
  readonly script: Script
}

interface Script {
  /** On w2. */
  fails: boolean
}

async function situated({ situation, nodes }: ConsoleBedOptions, signal: AbortSignal): Promise<Situated> {
  const script: Script = { fails: false }
  if (situation === 'large') {
    const large = largeFleet(nodes ?? 5000)
    return { cluster: large.cluster, person: large.person, large, script }
  }
  const count = nodes ?? 12
  const settings = { nodes: count, seed: 1, podsPerNode: 5, maxUnavailable: '25%', log: silentLog, version: '0.1.0' }
  const exitCodeOf = ({ env }: Job, node: string) =>
    script.fails && node === 'w2' && env.SLIPWAY_STEP === 'script' ? 1 : 0
  const rollout = new Rollout({ ...settings, cluster: { ...demoCluster(count), exitCodeOf } }, signal)
  const { cluster } = rollout.simulated
  const patience = { blockedForMs: Infinity, approvesAfterMs: situation === 'blocked' ? 1_000 : Infinity }
  const story = new DemoStory(rollout, patience, signal)
  await rollout.bringUp()
  await furnishDemo(rollout, signal)
  await story.prepare()
  const { person } = rollout
  const result = { cluster, person, large: undefined, script }
  if (situation === 'fresh') return result
  if (situation === 'failed') {
    script.fails = true
    await runAgain(rollout, signal)
  } else {
    await rollout.start(demoSpec)
  }
  for (let step = 0; step < 5_000 && !isThere(rollout, situation); step++) {
    await cluster.run({ limitMs: 1_000 })
    if (situation !== 'failed') await story.proceed()
  }
  if (!isThere(rollout, situation)) throw new Error(`the situation "${situation}" did not come about`)
  // So that the reason stands in every status.
  await cluster.run({ limitMs: 5_000 })
  return result
}

function isThere(rollout: Rollout, situation: ConsoleBedOptions['situation']): boolean {
  const { server } = rollout.simulated.cluster
  if (situation === 'failed') return server.peek(directUpdates, { name: 'again' })?.status?.phase === 'Failed'
  if (situation === 'approval') return rollout.update?.status?.wave?.promotion !== undefined
  return (rollout.snapshot()?.nodeStates ?? []).some(
    ({ status }) => status?.rollout?.drain?.pods.some(({ reason }) => reason.code === 'PodDisruptionBudget') ?? false,
  )
}

/** The script of the update that has ended, once more. */
async function runAgain({ person }: Rollout, signal: AbortSignal): Promise<void> {
  const { spec } = await person.get(directUpdates, { name: 'renew-certificates' }, signal)
  const { apiVersion, kind } = directUpdates
  await person.create(directUpdates, { apiVersion, kind, metadata: { name: 'again' }, spec }, signal)
}

async function live(cluster: SimCluster, speed: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (speed() > 0) await cluster.run({ limitMs: frameMs * speed(), until: () => signal.aborted })
    await new Promise((resolve) => setTimeout(resolve, frameMs))
  }
}
