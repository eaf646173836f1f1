// Names for completion. A shell waits for them at every Tab: little time, one try, and silence where there is nothing to say.

import { directUpdates } from '../../api/direct-update.ts'
import { type KubeObject, nodes, type ResourceType } from '../../api/kube.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import type { CommandContext } from '../command-context.ts'
import { listAll, readPolicy } from '../read-cluster.ts'
import type { Candidate, NameSource } from './candidates.ts'

const patienceMs = 1500

export async function knownNames(
  context: CommandContext,
  sources: readonly NameSource[],
): Promise<readonly Candidate[]> {
  const stop = new AbortController()
  const onAbort = () => stop.abort()
  const cancel = context.clock.after(patienceMs, onAbort)
  context.signal.addEventListener('abort', onAbort, { once: true })
  try {
    // Not settled in time counts as not known, also where the one who is asked does not stop at once.
    const late = new Promise<readonly Candidate[]>((resolve) =>
      stop.signal.addEventListener('abort', () => resolve([]), { once: true }),
    )
    const found = await Promise.all(
      sources.map((source) => Promise.race([late, namesOf(context, source, stop.signal).catch(() => [])])),
    )
    return found.flat()
  } finally {
    cancel()
    stop.abort()
    context.signal.removeEventListener('abort', onAbort)
  }
}

async function namesOf(
  context: CommandContext,
  source: NameSource,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  switch (source) {
    case 'contexts':
      return (await context.contexts(context.options)).map((value) => ({ value }))
    case 'nodes':
      return objects(context, nodes, signal)
    case 'updates':
      return objects(context, directUpdates, signal)
    case 'profiles':
      return objects(context, nodeProfiles, signal)
    case 'stores': {
      const policy = await readPolicy(await context.api(), signal)
      return (policy?.spec.backupStores ?? []).map(({ name }) => ({ value: name }))
    }
  }
}

async function objects(
  context: CommandContext,
  type: ResourceType<KubeObject>,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const { items } = await listAll(await context.api(), type, {}, signal)
  return items.map(({ metadata }) => ({ value: metadata.name, about: type.kind }))
}
