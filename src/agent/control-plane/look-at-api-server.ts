import type { ControlPlaneReport } from '../../api/control-plane.ts'
import type { Host } from '../../ports/host.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import { credentialsOf, findApiServer } from './find-etcd.ts'

const timeoutMs = 5_000

/** Whether this host's own API server says that it is ready; undefined where the host has none that we know. */
export async function lookAtApiServer(
  host: Host,
  requests: SecureRequests,
  signal: AbortSignal,
): Promise<ControlPlaneReport['apiServer']> {
  const access = await findApiServer(host)
  if (!access) return undefined
  const url = `${access.url}/readyz`
  try {
    const credentials = await credentialsOf(host, access)
    const { status, body } = await requests.send({ method: 'GET', url, credentials, timeoutMs }, signal)
    return status === 200 ? { ready: true } : notReady(`${url} answers ${status}: ${body}`)
  } catch (error) {
    if (signal.aborted) throw error
    return notReady(error instanceof Error ? error.message : String(error))
  }
}

function notReady(problem: string): ControlPlaneReport['apiServer'] {
  return { ready: false, problem: problem.slice(0, 512) }
}
