/** Everything that can be made to go wrong, by the name a person gives on the command line. */
export const faultKinds = [
  'operator-crash',
  'agent-crash',
  'agent-crash-at-disk',
  'conflict',
  'too-many-requests',
  'server-error',
  'timeout',
  'watch-broken',
  'watch-late',
  'watch-duplicated',
  'watch-stalled',
  'watch-bookmarks-only',
  'api-outage',
  'node-death',
  'node-deleted',
  'power-loss',
  'slow-node',
  'lease-stolen',
  'clock-skew',
  'operator-frozen',
] as const

export type FaultKind = (typeof faultKinds)[number]

/** Those that strike a request, a watch event or a disk operation; the others strike the cluster. */
export const pointKinds: ReadonlySet<FaultKind> = new Set([
  'operator-crash',
  'agent-crash',
  'agent-crash-at-disk',
  'conflict',
  'too-many-requests',
  'server-error',
  'timeout',
  'watch-broken',
  'watch-late',
  'watch-duplicated',
  'watch-stalled',
  'watch-bookmarks-only',
])

export function isFaultKind(text: string): text is FaultKind {
  return (faultKinds as readonly string[]).includes(text)
}
