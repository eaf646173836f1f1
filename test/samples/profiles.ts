import { type DesiredState, emptyState } from '../../src/api/desired-state.ts'
import type { NodeProfile, NodeProfileSpec } from '../../src/api/node-profile.ts'
import { desiredState } from '../../src/core/profile/desired-state.ts'
import { wishesOf } from '../../src/core/profile/wishes.ts'

export function nodeProfile(name: string, spec: NodeProfileSpec, deleted = false): NodeProfile {
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(deleted && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    },
    spec,
  }
}

/** The state of a host that these profiles select; contents are those the profiles carry themselves. */
export function stateOf(...profiles: readonly NodeProfile[]): DesiredState {
  const computed = desiredState(profiles.map((profile) => wishesOf(profile, ({ content = '' }) => ({ content }))))
  if (!computed.ok) throw new Error(computed.reason.message)
  return computed.state
}

export const noState = emptyState
