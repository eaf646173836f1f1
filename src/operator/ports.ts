import type { Audit } from '../ports/audit.ts'
import type { BundleManifests } from '../ports/bundle-manifests.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Random } from '../ports/random.ts'
import type { Registry } from '../ports/registry.ts'
import type { Sealing } from '../ports/sealing.ts'
import type { Web } from '../ports/web.ts'

/** What every part of the operator stands on. `api` is fenced: it refuses writes once the lease could be another's. */
export interface OperatorPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Absent: nothing is counted. */
  readonly metrics?: Metrics
  /** Absent: no audit record is kept. */
  readonly audit?: Audit
  /** Absent: nothing secret can be brought to hosts. */
  readonly sealing?: Sealing
  /** Absent: gates, hooks, silences and notifications cannot speak with servers. */
  readonly web?: Web
  /** Absent: what a tag names is not looked up here; each host does. */
  readonly registry?: Registry
  /** Absent: what a bundle holds is not looked at from here. */
  readonly bundleManifests?: BundleManifests
}
