import type { ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { kindMissing } from '../../cli/read-cluster.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

/**
 * Asks once for each kind a role lives on. A definite no (the kind is not installed, no right to it) ends the role with a
 * sentence and an exit code; a server that does not answer now is waited for, as at any later moment.
 */
export async function firstContact(api: KubeApi, types: readonly ResourceType[], signal: AbortSignal): Promise<void> {
  await Promise.all(
    types.map(async (type) => {
      try {
        await api.list(type, { limit: 1 }, signal)
      } catch (error) {
        if (isKubeError(error, 'NotFound')) throw kindMissing(type, error)
        if (!isKubeError(error) || isKubeError(error, 'Forbidden', 'Unauthorized')) throw error
      }
    }),
  )
}
