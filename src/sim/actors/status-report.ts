import type { KubeObject, ResourceType } from '../../api/kube.ts'
import type { ActorContext } from './actor.ts'

/** Numbers a controller counted; written where they differ from those that stand there. */
export async function reportCounts<T extends KubeObject & { readonly status?: Readonly<Record<string, unknown>> }>(
  context: ActorContext,
  type: ResourceType<T>,
  object: T,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const { name, namespace, generation } = object.metadata
  const status: Readonly<Record<string, number>> = { ...counts, observedGeneration: generation ?? 0 }
  if (object.status !== undefined && sameNumbers(status, object.status)) return
  const ref = namespace === undefined ? { name } : { name, namespace }
  const patch = { type: 'merge', body: { status } } as const
  context.following(type).learn(await context.api.patch(type, ref, patch, context.signal, 'status'))
}

function sameNumbers(wanted: Readonly<Record<string, number>>, known: Readonly<Record<string, unknown>>): boolean {
  for (const field in wanted) if (known[field] !== wanted[field]) return false
  return true
}
