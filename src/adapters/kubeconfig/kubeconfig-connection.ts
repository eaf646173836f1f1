import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import type { KubeConnection, KubeCredential, KubeCredentials } from '../../ports/kube-connection.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { broken, readSelected, type Selected } from './kubeconfig-files.ts'
import { Reread } from './reread.ts'

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
  const authority = authorityOf(selected, options)
  const bundle = await authority?.current()
  const credentials = credentialsOf(selected, bundle, options)
  // Files are read once now, so that a wrong path is reported as such and not as a refusal by the server.
  if (credentials instanceof Reread) {
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

/** Of the first reading, which is at hand, and then of the kubeconfig as it is: what it holds itself is renewed there. */
function rereading<T>(
  first: Selected,
  { clock, paths }: KubeconfigOptions,
  read: (selected: Selected) => Promise<T>,
): Reread<T> {
  let atHand: Selected | undefined = first
  return new Reread(clock, async () => {
    const selected = atHand ?? (await readSelected(paths, first.context))
    atHand = undefined
    // Where to speak is settled once; what is meant for another server is not shown to this one.
    if (selected.cluster.server !== first.cluster.server) {
      throw broken(selected.userFile, `context "${first.context}" is now for ${selected.cluster.server}`)
    }
    return read(selected)
  })
}

function authorityOf(selected: Selected, options: KubeconfigOptions): Reread<string> | undefined {
  const { cluster } = selected
  const isNamed = (cluster['certificate-authority-data'] ?? cluster['certificate-authority']) !== undefined
  return isNamed ? rereading(selected, options, readAuthority) : undefined
}

async function readAuthority({ cluster, clusterPath, userFile }: Selected): Promise<string> {
  const { 'certificate-authority-data': data, 'certificate-authority': file } = cluster
  const read = (path: string) =>
    readFile(clusterPath(path), 'utf8').catch((error: unknown) => {
      throw broken(userFile, `its certificate-authority ${path} cannot be read`, undefined, error)
    })
  const bundle = data === undefined ? file && (await read(file)) : decode(data)
  // To trust no authority in particular is to trust all that the system does.
  if (bundle === undefined || bundle.trim() === '') throw broken(userFile, 'its certificate-authority is empty')
  return bundle
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
  return rereading(selected, options, readUser)
}

async function readUser({ user, userPath }: Selected): Promise<KubeCredential> {
  // A kubelet keeps both in one file, which it replaces: read once, they belong together.
  const files = new Map<string, Promise<string>>()
  const text = (path: string) => {
    const reading = files.get(path) ?? readFile(path, 'utf8')
    files.set(path, reading)
    return reading
  }
  const load = async (data: string | undefined, file: string | undefined) =>
    data !== undefined ? decode(data) : file === undefined ? undefined : text(userPath(file))
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
