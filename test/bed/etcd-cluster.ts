// A real etcd of several members on loopback, with certificates, and the root folders of the control-plane hosts they are for.

import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { nodeRequests } from '../../src/adapters/secure-requests/node-requests.ts'
import { EtcdGateway } from '../../src/agent/control-plane/etcd-gateway.ts'
import { type Authority, makeAuthority, makePair } from './certificates.ts'
import { ChildProgram, freePorts } from './child-program.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { etcdVersion } from './versions.ts'

export interface EtcdMemberBed {
  readonly name: string
  readonly url: string
  /** What an agent on its host sees as /. */
  readonly root: string
}

const pki = '/etc/kubernetes/pki'
const names = ['cp1', 'cp2', 'cp3']

export class EtcdCluster {
  readonly dir = mkdtempSync(join(tmpdir(), 'slipway-etcd-'))
  readonly authority: Authority = makeAuthority('etcd-ca')
  readonly gateway: EtcdGateway
  readonly members: readonly EtcdMemberBed[]
  readonly #program: string
  readonly #peers: readonly string[]
  readonly #running = new Map<string, ChildProgram>()

  static async start(): Promise<EtcdCluster> {
    const folder = await programFolder({ project: 'etcd', version: etcdVersion, programs: ['etcd'] }, sayToStderr)
    const cluster = new EtcdCluster(join(folder, 'etcd'), await freePorts(6))
    const pair = makePair(cluster.authority, { name: 'member', ips: ['127.0.0.1'] })
    await cluster.#put(cluster.dir, {
      'ca.crt': cluster.authority.certificate,
      'm.crt': pair.certificate,
      'm.key': pair.key,
    })
    for (const member of cluster.members) await cluster.#raise(member)
    await Promise.all(cluster.members.map(({ name }) => cluster.launch(name)))
    return cluster
  }

  private constructor(program: string, ports: readonly number[]) {
    this.#program = program
    this.members = names.map((name, index) => ({
      name,
      url: `https://127.0.0.1:${ports[index]}`,
      root: join(this.dir, name),
    }))
    this.#peers = ports.slice(3).map((port) => `https://127.0.0.1:${port}`)
    const { certificate, key } = makePair(this.authority, { name: 'test' })
    this.gateway = new EtcdGateway(nodeRequests, { ca: this.authority.certificate, certificate, key })
  }

  member(name: string): EtcdMemberBed {
    const found = this.members.find((each) => each.name === name)
    if (!found) throw new Error(`no member ${name}`)
    return found
  }

  /** Returns when it reads what the others have agreed on. */
  async launch(name: string): Promise<void> {
    const index = names.indexOf(name)
    const { url } = this.member(name)
    const peer = this.#peers[index] ?? ''
    const tls = (prefix: string) => [
      `--${prefix}cert-file=${this.dir}/m.crt`,
      `--${prefix}key-file=${this.dir}/m.key`,
      `--${prefix}trusted-ca-file=${this.dir}/ca.crt`,
      `--${prefix}client-cert-auth`,
    ]
    const args = [
      `--name=${name}`,
      `--data-dir=${this.dir}/data-${name}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${names.map((each, at) => `${each}=${this.#peers[at]}`).join()}`,
      ...tls(''),
      ...tls('peer-'),
      '--unsafe-no-fsync',
      '--log-level=error',
    ]
    const child = new ChildProgram(this.#program, args, join(this.dir, `${name}.log`))
    this.#running.set(name, child)
    await child.ready(async () => {
      await this.gateway.readAgreed(url, AbortSignal.timeout(5_000))
      return true
    })
  }

  async kill(name: string): Promise<void> {
    await this.#running.get(name)?.stop('SIGKILL')
  }

  /** Neither answers nor hears, but is not gone: what is written meanwhile it does not have. */
  freeze(name: string): void {
    process.kill(this.#running.get(name)?.pid ?? 0, 'SIGSTOP')
  }

  thaw(name: string): void {
    process.kill(this.#running.get(name)?.pid ?? 0, 'SIGCONT')
  }

  /** By what the members themselves say. */
  async leader(): Promise<EtcdMemberBed> {
    for (const member of this.members) {
      const { header, leader } = await this.gateway.status(member.url, AbortSignal.timeout(5_000))
      if (header.member_id === leader) return member
    }
    throw new Error('nobody leads')
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((child) => child.stop('SIGKILL')))
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 })
  }

  /** A host as kubeadm leaves it. */
  async #raise({ url, root }: EtcdMemberBed): Promise<void> {
    const { certificate, key } = makePair(this.authority, { name: 'kube-apiserver-etcd-client' })
    await this.#put(root, {
      [`${pki}/etcd/ca.crt`]: this.authority.certificate,
      [`${pki}/apiserver-etcd-client.crt`]: certificate,
      [`${pki}/apiserver-etcd-client.key`]: key,
      ...staticPod('etcd', [`--advertise-client-urls=${url}`]),
      ...staticPod('kube-apiserver', [...etcdFlags, `--etcd-servers=${url}`]),
    })
  }

  /** A host whose API server uses this etcd, none of whose members it runs. */
  async raiseElsewhere(name: string, servers: readonly string[]): Promise<string> {
    const root = join(this.dir, name)
    const { certificate, key } = makePair(this.authority, { name: 'kube-apiserver-etcd-client' })
    await this.#put(root, {
      [`${pki}/etcd/ca.crt`]: this.authority.certificate,
      [`${pki}/apiserver-etcd-client.crt`]: certificate,
      [`${pki}/apiserver-etcd-client.key`]: key,
      ...staticPod('kube-apiserver', [...etcdFlags, `--etcd-servers=${servers.join()}`]),
    })
    return root
  }

  async #put(root: string, files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content, { mode: 0o600 })
    }
  }
}

const etcdFlags = [
  `--etcd-cafile=${pki}/etcd/ca.crt`,
  `--etcd-certfile=${pki}/apiserver-etcd-client.crt`,
  `--etcd-keyfile=${pki}/apiserver-etcd-client.key`,
]

/** JSON is YAML. */
export function staticPod(name: string, flags: readonly string[]): Readonly<Record<string, string>> {
  const containers = [{ image: `registry.example/${name}:1`, command: [name, ...flags] }]
  return { [`/etc/kubernetes/manifests/${name}.yaml`]: JSON.stringify({ kind: 'Pod', spec: { containers } }) }
}
