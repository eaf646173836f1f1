import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Sealing } from '../ports/sealing.ts'
import type { Web } from '../ports/web.ts'

/** What every part of the operator stands on. `api` is fenced: it refuses writes once the lease could be another's. */
export interface OperatorPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Absent: nothing secret can be brought to hosts. */
  readonly sealing?: Sealing
  /** Absent: gates and hooks cannot speak with servers. */
  readonly web?: Web
}
