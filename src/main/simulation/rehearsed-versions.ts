// Which versions a rehearsal goes through: those of the real cluster, whatever pretend hosts would have to offer.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { isChosen } from '../../core/update/is-chosen.ts'
import type { Fault } from '../../core/versions/find-path.ts'
import type { Offers } from '../../core/versions/offers.ts'
import { resolveVersions } from '../../core/versions/resolve.ts'

export interface RehearsedVersions {
  readonly path?: VersionPath
  /** Why none can be told. */
  readonly fault?: Fault
  /** What the hosts have then; absent: what pretend hosts have. */
  readonly hosts?: readonly string[]
}

export function versionsFor(
  { nodes, nodeStates, serverVersion, installed }: ClusterSnapshot,
  spec: DirectUpdateSpec,
  offers: Offers | undefined,
): RehearsedVersions {
  // Nobody has said what there is: pretend hosts stand in, and the plan says what it rests on.
  if (!spec.kubernetes || !installed) return {}
  const states = new Map(nodeStates.map((state) => [state.metadata.name, state]))
  const selected = nodes.filter((node) => isChosen(spec, node))
  const found = resolveVersions({
    ...{ spec, nodes, selected, serverVersion, offers },
    stateOf: (name) => states.get(name),
  })
  if (!found?.resolved) return { hosts: [serverVersion] }
  if (found.fault) return { fault: found.fault, hosts: [serverVersion] }
  return { path: found.path, ...(found.path.steps.length > 1 && { hosts: found.path.steps }) }
}
