import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import type { KubeConnection, KubeCredential, KubeCredentials } from '../../ports/kube-connection.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { broken, readSelected, type Selected } from './kubeconfig-files.ts'
import { RereadCredentials } from './reread-credentials.ts'

export interface KubeconfigOptions {
  readonly paths: readonly string[]
  readonly context?: string | undefined
  /** What an exec plug-in is started with. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** The connection a kubeconfig describes. Fails with KubeconfigMissing or KubeconfigBroken: the file, and what is wrong. */
export async function kubeconfigConnection(options: KubeconfigOptions): Promise<KubeConnection> {
  const selected = await readSelected(options.paths, options.context)
  const { cluster, namespace, userFile } = selected
  const authority = await authorityOf(selected)
  const credentials = credentialsOf(selected, authority, options)
  // Files are read once now, so that a wrong path is reported as such and not as a refusal by the server.
  if (credentials instanceof RereadCredentials) {
    await credentials.current().catch((error: unknown) => {
      throw broken(userFile, error instanceof Error ? error.message : String(error), undefined, error)
    })
  }
  const proxyUrl = cluster['proxy-url']
  const tlsServerName = cluster['tls-server-name']
  return {
    server: cluster.server,
    context: selected.context,
    credentials,
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] ?? false,
    ...(authority === undefined ? {} : { authority }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined || proxyUrl === '' ? {} : { proxyUrl }),
    ...(namespace === undefined ? {} : { namespace }),
  }
}

async function authorityOf({ cluster, clusterPath, userFile }: Selected): Promise<string | undefined> {
  const data = cluster['certificate-authority-data']
  if (data !== undefined) return decode(data)
  const file = cluster['certificate-authority']
  if (file === undefined) return undefined
  return readFile(clusterPath(file), 'utf8').catch((error: unknown) => {
    throw broken(userFile, `its certificate-authority ${file} cannot be read`, undefined, error)
  })
}

function credentialsOf(selected: Selected, authority: string | undefined, options: KubeconfigOptions): KubeCredentials {
  const { user, userFile } = selected
  if (user.exec) return execCredentials(selected, authority, options)
  const hasCertificate = (user['client-certificate-data'] ?? user['client-certificate']) !== undefined
  const hasKey = (user['client-key-data'] ?? user['client-key']) !== undefined
  if (hasCertificate !== hasKey) {
    throw broken(
      userFile,
      `the user has a client ${hasCertificate ? 'certificate without its key' : 'key without its certificate'}`,
    )
  }
  return new RereadCredentials(options.clock, () => readUser(selected))
}

async function readUser({ user, userPath }: Selected): Promise<KubeCredential> {
  const load = async (data: string | undefined, file: string | undefined) =>
    data !== undefined ? decode(data) : file === undefined ? undefined : readFile(userPath(file), 'utf8')
  const certificate = await load(user['client-certificate-data'], user['client-certificate'])
  const key = await load(user['client-key-data'], user['client-key'])
  const token = user.tokenFile === undefined ? user.token : (await readFile(userPath(user.tokenFile), 'utf8')).trim()
  const authorization = authorizationOf(token, user.username, user.password)
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate: { certificate, key } }),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

function authorizationOf(token?: string, username?: string, password?: string): string | undefined {
  if (token !== undefined) return `Bearer ${token}`
  if (username === undefined) return undefined
  return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`
}

function execCredentials(
  { user, cluster, userPath, userFile }: Selected,
  authority: string | undefined,
  options: KubeconfigOptions,
): KubeCredentials {
  const entry = user.exec
  if (!entry) throw broken(userFile, 'the user has no exec plug-in')
  if (entry.interactiveMode === 'Always') {
    throw broken(userFile, `the exec plug-in ${entry.command} asks questions`, 'use one that does not')
  }
  const command = entry.command.includes('/') && !isAbsolute(entry.command) ? userPath(entry.command) : entry.command
  const info = {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'proxy-url': cluster['proxy-url'],
    ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    config: cluster.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension ?? null,
  }
  return new ExecCredentials({ entry, command, env: options.env, cluster: info }, options.clock)
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}
