// A real control plane on loopback: etcd, kube-apiserver and, if asked for, controller manager and scheduler. No kubelets.

import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Authority, makeAuthority, makePair, makeSigningKey, type Pair } from './certificates.ts'
import { ChildProgram, freePorts } from './child-program.ts'
import { type FindProgram, findPrograms, sayToStderr } from './programs.ts'

export interface ApiServerOptions {
  /** Controller manager and scheduler: none, all, or these controllers only (the scheduler runs with any). */
  readonly controllers: boolean | readonly string[]
  /** Further arguments of kube-apiserver. */
  readonly apiArguments?: readonly string[]
  /** Write an audit log, one line a request. */
  readonly audit?: boolean
  /** Of these resources of the core group each write stands there with the object it made. */
  readonly auditWhole?: readonly string[]
  /** Keep everything in this folder; without it a temporary one is removed in the end. */
  readonly dir?: string
}

export interface ApiServer {
  readonly url: string
  readonly etcdUrl: string
  readonly dir: string
  readonly kubeconfigPath: string
  readonly auditLogPath: string
  readonly authority: Authority
  readonly pids: Readonly<Record<string, number>>
  /** Ends it in good order and starts it again; with an authority it then shows a certificate signed by that one. */
  restartApi(serving?: Authority): Promise<void>
  /** Lets it answer what it has begun, and write that down. */
  stopApi(): Promise<void>
  /** Ends it at once, as a power cut would. */
  killApi(): Promise<void>
  startApi(): Promise<void>
  stop(): Promise<void>
}

/** A bearer token the server takes for an administrator's. */
export const adminToken = 'slipway-test-token'

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const programs = await findPrograms(sayToStderr)
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'slipway-bed-'))
  const running = new Map<string, ChildProgram>()
  const killAll = () => {
    for (const child of running.values()) child.killNow()
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
  const onSignal = (signal: NodeJS.Signals) => {
    killAll()
    process.removeListener(signal, onSignal)
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  process.once('exit', killAll)
  for (const signal of endings) process.on(signal, onSignal)
  const stop = async () => {
    await Promise.all([...running.values()].map((child) => child.stop('SIGKILL')))
    running.clear()
    process.removeListener('exit', killAll)
    for (const signal of endings) process.removeListener(signal, onSignal)
    killAll()
  }
  try {
    return await start(options, programs, dir, running, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  options: ApiServerOptions,
  programs: FindProgram,
  dir: string,
  running: Map<string, ChildProgram>,
  stop: () => Promise<void>,
): Promise<ApiServer> {
  const [etcdPort = 0, peerPort = 0, apiPort = 0, managerPort = 0, schedulerPort = 0] = await freePorts(5)
  const url = `https://127.0.0.1:${apiPort}`
  const files = await writeFiles(dir, url, auditPolicy(options.auditWhole ?? []))
  const launch = (name: Parameters<FindProgram>[0], args: readonly string[]) => {
    const child = new ChildProgram(programs(name), args, join(dir, `${name}.log`))
    running.set(name, child)
    return child
  }
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const etcd = launch('etcd', etcdArguments(dir, etcdUrl, `http://127.0.0.1:${peerPort}`))
  await etcd.ready(async () => (await fetch(`${etcdUrl}/health`)).ok)

  let trusted = files.authority
  const startApi = async () => {
    const child = launch('kube-apiserver', [
      ...apiArguments(dir, etcdUrl, apiPort),
      ...(options.apiArguments ?? []),
      ...(options.audit === true
        ? [`--audit-policy-file=${dir}/audit-policy.yaml`, `--audit-log-path=${dir}/audit.log`]
        : []),
    ])
    const answers = (path: string) => isOk(url + path, trusted, files.admin)
    await child.ready(async () => (await answers('/readyz')) && (await answers('/api/v1/namespaces/default')))
  }
  const endApi = async (signal: 'SIGTERM' | 'SIGKILL') => {
    await running.get('kube-apiserver')?.stop(signal, 5_000)
    running.delete('kube-apiserver')
  }
  await startApi()
  if (options.controllers !== false) {
    const names = options.controllers === true ? '*' : options.controllers.join(',')
    launch('kube-controller-manager', [
      ...clientArguments(dir, managerPort),
      `--controllers=${names}`,
      `--service-account-private-key-file=${dir}/sa.key`,
      `--root-ca-file=${dir}/ca.crt`,
      '--use-service-account-credentials',
    ])
    launch('kube-scheduler', clientArguments(dir, schedulerPort))
  }
  return {
    url,
    etcdUrl,
    dir,
    kubeconfigPath: join(dir, 'admin.conf'),
    auditLogPath: join(dir, 'audit.log'),
    authority: files.authority,
    get pids() {
      return Object.fromEntries([...running].map(([name, child]) => [name, child.pid]))
    },
    startApi,
    stopApi: () => endApi('SIGTERM'),
    killApi: () => endApi('SIGKILL'),
    restartApi: async (serving) => {
      await endApi('SIGTERM')
      if (serving !== undefined) await writePair(dir, serving)
      trusted = serving ?? trusted
      await startApi()
    },
    stop,
  }
}

function isOk(url: string, authority: Authority, admin: Pair): Promise<boolean> {
  const tls = { ca: authority.certificate, cert: admin.certificate, key: admin.key }
  return new Promise((resolve, reject) => {
    // A connection of its own: one that was kept would be broken by the next restart.
    const asking = get(url, { ...tls, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asking.on('error', reject)
  })
}

function etcdArguments(dir: string, clientUrl: string, peerUrl: string): string[] {
  return [
    `--data-dir=${dir}/etcd`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

function apiArguments(dir: string, etcdUrl: string, port: number): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${dir}/apiserver.crt`,
    `--tls-private-key-file=${dir}/apiserver.key`,
    `--client-ca-file=${dir}/ca.crt`,
    `--token-auth-file=${dir}/tokens.csv`,
    `--service-account-key-file=${dir}/sa.pub`,
    `--service-account-signing-key-file=${dir}/sa.key`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    // No pod runs here, and none should wait for its service account to be made.
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged=true',
    `--cert-dir=${dir}/cert`,
    '--endpoint-reconciler-type=none',
  ]
}

function clientArguments(dir: string, port: number): string[] {
  return [
    `--kubeconfig=${dir}/admin.conf`,
    `--authentication-kubeconfig=${dir}/admin.conf`,
    `--authorization-kubeconfig=${dir}/admin.conf`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${dir}/cert`,
    '--leader-elect=false',
    // The default of 20 a second makes a thousand pods take a minute.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ]
}

async function writeFiles(dir: string, url: string, audit: string) {
  await mkdir(join(dir, 'cert'), { recursive: true })
  const authority = makeAuthority('slipway-test')
  const admin = makePair(authority, { name: 'admin', group: 'system:masters' })
  const signing = makeSigningKey()
  const contents = {
    'ca.crt': authority.certificate,
    'admin.crt': admin.certificate,
    'admin.key': admin.key,
    'sa.key': signing.privateKey,
    'sa.pub': signing.publicKey,
    'tokens.csv': `${adminToken},token-admin,1,"system:masters"\n`,
    'audit-policy.yaml': audit,
    'admin.conf': kubeconfig(url),
  }
  for (const [name, content] of Object.entries(contents)) await writeFile(join(dir, name), content, { mode: 0o600 })
  await writePair(dir, authority)
  return { authority, admin }
}

/** What the server shows. */
async function writePair(dir: string, authority: Authority): Promise<void> {
  const dns = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  const { certificate, key } = makePair(authority, { name: 'kube-apiserver', dns, ips: ['127.0.0.1', '10.96.0.1'] })
  await writeFile(join(dir, 'apiserver.crt'), certificate, { mode: 0o600 })
  await writeFile(join(dir, 'apiserver.key'), key, { mode: 0o600 })
}

/** JSON is YAML. */
function auditPolicy(whole: readonly string[]): string {
  const written = {
    level: 'RequestResponse',
    verbs: ['create', 'update', 'patch', 'delete'],
    resources: [{ group: '', resources: whole.flatMap((resource) => [resource, `${resource}/status`]) }],
  }
  const rules = [...(whole.length > 0 ? [written] : []), { level: 'Metadata' }]
  return JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules })
}

/** The paths are relative to the file. */
function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster: { server, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'admin', user: { 'client-certificate': 'admin.crt', 'client-key': 'admin.key' } }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'admin' } }],
    'current-context': 'bed',
  })
}
