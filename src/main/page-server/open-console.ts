// The console put together: its page, its desks, its server.

import { gzipCompression } from '../../adapters/compression/gzip.ts'
import { NodeHttpServer } from '../../adapters/http-server/node-http-server.ts'
import type { ConsoleState } from '../../api/console.ts'
import { whoAmI } from '../../cli/who-am-i.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import type { Random } from '../../ports/random.ts'
import { ActionDesk } from '../../web/actions.ts'
import { type RunningConsole, serveConsole } from '../../web/console-server.ts'
import { NodeQuestions } from '../../web/node-questions.ts'
import { PlanDesk } from '../../web/plan-desk.ts'
import { RightsDesk } from '../../web/rights.ts'
import type { StaticFiles } from '../../web/static-file.ts'
import { parseUpdate } from './parse-update.ts'
import { clusterPlanner } from './planner.ts'

export interface ConsoleParts {
  readonly api: KubeApi
  readonly clock: Clock
  /** Another one where the cluster is simulated. */
  readonly clusterClock: Clock
  readonly random: Random
  readonly log: Log
  readonly files: StaticFiles
  readonly cluster: Omit<ConsoleState['cluster'], 'kubernetes' | 'slipway'>
  readonly version: string
  readonly namespace: string
  readonly port: number
}

/** Resolves when it listens; runs until aborted. */
export function openConsole(parts: ConsoleParts, signal: AbortSignal): Promise<RunningConsole> {
  const { api, clock, clusterClock, random, version, namespace, cluster } = parts
  const newId = () => random.uuid()
  const person = (until: AbortSignal) => whoAmI(api, until)
  const parseManifest = async (text: string) => parseUpdate(text, newId())
  const planner = clusterPlanner({ api, clock: clusterClock, version, namespace, newId })
  return serveConsole(
    {
      ...parts,
      server: new NodeHttpServer(),
      // Two of them: 244 bits nobody can guess.
      token: `${random.uuid()}${random.uuid()}`.replaceAll('-', ''),
      cluster: { ...cluster, slipway: version },
      questions: new NodeQuestions({ api, clock, random, compression: async () => gzipCompression }),
      rights: new RightsDesk(api, person),
      actions: new ActionDesk({ api, clusterClock, random, whoAmI: person, parseManifest }),
      plans: new PlanDesk(planner),
    },
    parts.port,
    signal,
  )
}
