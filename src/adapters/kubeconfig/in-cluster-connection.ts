import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeConnection } from '../../ports/kube-connection.ts'
import { RereadCredentials } from './reread-credentials.ts'

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface InClusterOptions {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly host: string
  readonly port: string
  readonly folder?: string
  readonly clock: Clock
}

/** The connection every pod is given: the token is renewed by the kubelet, so it is read again and again. */
export async function inClusterConnection(options: InClusterOptions): Promise<KubeConnection> {
  const { host, port, folder = serviceAccountFolder, clock } = options
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim()
  const credentials = new RereadCredentials(clock, async () => ({ authorization: `Bearer ${await read('token')}` }))
  try {
    const authority = await read('ca.crt')
    const namespace = await read('namespace')
    await credentials.current()
    const address = host.includes(':') ? `[${host}]` : host
    return { server: `https://${address}:${port}`, authority, namespace, credentials }
  } catch (cause) {
    throw new SlipwayError('KubeconfigMissing', `the service account in ${folder} cannot be read`, {
      nextStep: 'check automountServiceAccountToken of the pod',
      cause,
    })
  }
}
