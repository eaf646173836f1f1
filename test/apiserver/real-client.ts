import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { kubeconfigConnection } from '../../src/adapters/kubeconfig/kubeconfig-connection.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import type { RequestRecord } from '../../src/kube/http/http-client.ts'
import { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import type { ApiServer } from '../bed/api-server.ts'

export interface RealClient {
  readonly api: HttpKubeApi
  readonly requests: RequestRecord[]
}

/** Our own client, as a program would make it from that kubeconfig. */
export async function realClient(kubeconfigPath: string, retryForMs = 30_000): Promise<RealClient> {
  const clock = new SystemClock()
  const connection = await kubeconfigConnection({ paths: [kubeconfigPath], env: process.env, clock })
  const requests: RequestRecord[] = []
  const api = new HttpKubeApi({
    connection,
    clock,
    random: new SystemRandom(),
    userAgent: 'slipway/test (apiserver)',
    onRequest: (record) => requests.push(record),
    retryForMs,
  })
  return { api, requests }
}

/** A kubeconfig beside the server's own, with another user and changes to the cluster. */
export async function writeKubeconfig(
  server: ApiServer,
  name: string,
  user: object,
  cluster: object = {},
): Promise<string> {
  const path = join(server.dir, name)
  const config = JSON.parse(readFileSync(server.kubeconfigPath, 'utf8')) as {
    clusters: [{ cluster: object }]
    users: [{ user: object }]
  }
  config.clusters[0].cluster = { ...config.clusters[0].cluster, ...cluster }
  config.users[0].user = user
  await writeFile(path, JSON.stringify(config))
  return path
}
