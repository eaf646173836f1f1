// The annotation, the spec and the status of a NodeState each hold one question for a log. Where several people ask for logs of
// one node, a later question takes the place of an earlier one, answered or not.

import { logsAnnotation, type NodeState } from '../../api/node-state.ts'

/** `behind`: another question is under way. `free`: none is, and this one was not asked yet, or is lost: it may be asked. */
export type LogTurn = 'answered' | 'asked' | 'behind' | 'free'

export function logTurn({ metadata, spec, status }: NodeState, request: string): LogTurn {
  const answered = status?.agent?.logs?.request
  if (answered === request) return 'answered'
  const written = metadata.annotations?.[logsAnnotation]
  if (written !== undefined) return written.includes(request) ? 'asked' : 'behind'
  const passedOn = spec.logs?.request
  if (passedOn === request) return 'asked'
  return passedOn === undefined || passedOn === answered ? 'free' : 'behind'
}
