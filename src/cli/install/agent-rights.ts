// The agent has no right over nodes, pods or Secrets.

import { ourGroup, type Right, right } from './right.ts'

export const agentClusterRights: readonly Right[] = [
  right(
    ourGroup,
    ['nodestates'],
    { get: 'bad-input', list: 'bad-input', watch: 'bad-input' },
    'watches the work order of its own node; RBAC cannot say "its own", the admission policy fences what it writes',
  ),
  right(
    ourGroup,
    ['nodestates/status'],
    { patch: 'bad-input' },
    'reports what became of the order, in its own half of the status',
  ),
]

export const agentNamespaceRights: readonly Right[] = [
  right(
    '',
    ['configmaps'],
    { get: 'bad-input' },
    'fetches the script or desired state that an order names by its SHA-256',
  ),
]
