import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeConnection } from '../../ports/kube-connection.ts'
import { Reread } from './reread.ts'

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface InClusterOptions {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly host: string
  readonly port: string
  readonly folder?: string
  readonly clock: Clock
}

/** The connection every pod is given: token and authorities are renewed by the kubelet, so they are read again and again. */
export async function inClusterConnection(options: InClusterOptions): Promise<KubeConnection> {
  const { host, port, folder = serviceAccountFolder, clock } = options
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim()
  const credentials = new Reread(clock, async () => ({ authorization: `Bearer ${await read('token')}` }))
  const authority = new Reread(clock, async () => {
    const bundle = await read('ca.crt')
    // To trust no authority in particular is to trust all that the system does.
    if (bundle === '') throw new Error('ca.crt is empty')
    return bundle
  })
  try {
    const namespace = await read('namespace')
    await Promise.all([authority.current(), credentials.current()])
    const address = host.includes(':') ? `[${host}]` : host
    return { server: `https://${address}:${port}`, authority, namespace, credentials }
  } catch (cause) {
    throw new SlipwayError('KubeconfigMissing', `the service account in ${folder} cannot be read`, {
      nextStep: 'check automountServiceAccountToken of the pod',
      cause,
    })
  }
}
