import type { KubeObject, ResourceType } from '../api/kube.ts'
import type { KubeApi, Selection } from '../ports/kube-api.ts'

const pageSize = 500

/** Shows each object once, page by page; nothing of a page is kept when the next one comes. */
export async function eachListed<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  selection: Selection,
  show: (object: T) => void,
  signal: AbortSignal,
): Promise<void> {
  let continueToken: string | undefined
  do {
    const page = await api.list(
      type,
      { ...selection, limit: pageSize, ...(continueToken !== undefined && { continueToken }) },
      signal,
    )
    for (const object of page.items) show(object)
    continueToken = page.continueToken
  } while (continueToken !== undefined)
}
