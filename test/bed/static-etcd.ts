// Control-plane hosts of which only etcd is real: a folder of manifests for each, and a kubelet that starts and ends etcd as they come
// and go. Several on one machine, each with ports and folders of its own.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseStaticPod } from '../../src/core/kubernetes/static-pod.ts'
import { type Authority, makeAuthority, makePair } from './certificates.ts'
import { ChildProgram, freePorts } from './child-program.ts'
import { etcdPrograms } from './etcd-snapshot.ts'

export interface StaticMember {
  readonly name: string
  readonly url: string
  readonly peer: string
  readonly folder: string
  readonly manifests: string
  readonly dataDir: string
}

const kubeletMs = 100

export class StaticEtcd {
  readonly dir = mkdtempSync(join(tmpdir(), 'slipway-static-'))
  readonly authority: Authority = makeAuthority('etcd-ca')
  readonly members: readonly StaticMember[]
  readonly #running = new Map<string, ChildProgram>()
  readonly #ending = new Map<string, Promise<void>>()
  readonly #kubelets = setInterval(() => this.#sync(), kubeletMs)

  static async start(count: number): Promise<StaticEtcd> {
    const { etcd } = await etcdPrograms()
    const cluster = new StaticEtcd(count, await freePorts(2 * count))
    const pair = makePair(cluster.authority, { name: 'member', ips: ['127.0.0.1'] })
    const files = { 'ca.crt': cluster.authority.certificate, 'm.crt': pair.certificate, 'm.key': pair.key }
    for (const [name, text] of Object.entries(files)) await writeFile(join(cluster.dir, name), text, { mode: 0o600 })
    for (const member of cluster.members) await cluster.#writeManifest(member, etcd)
    return cluster
  }

  private constructor(count: number, ports: readonly number[]) {
    this.members = Array.from({ length: count }, (_, at) => {
      const name = `cp${at + 1}`
      const folder = join(this.dir, name)
      return {
        name,
        url: `https://127.0.0.1:${ports[at]}`,
        peer: `https://127.0.0.1:${ports[count + at]}`,
        folder,
        manifests: join(folder, 'kubernetes/manifests'),
        dataDir: join(folder, 'data'),
      }
    })
  }

  get initialCluster(): string {
    return this.members.map(({ name, peer }) => `${name}=${peer}`).join()
  }

  isRunning(name: string): boolean {
    return this.#running.has(name)
  }

  async stop(): Promise<void> {
    clearInterval(this.#kubelets)
    await Promise.all([...this.#ending.values()])
    await Promise.all([...this.#running.values()].map((child) => child.stop('SIGKILL')))
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 })
  }

  #sync(): void {
    for (const member of this.members) {
      if (this.#ending.has(member.name)) continue
      const path = join(member.manifests, 'etcd.yaml')
      const child = this.#running.get(member.name)
      if (!child && existsSync(path)) this.#launch(member, path)
      if (child && !existsSync(path)) {
        const ended = child.stop('SIGTERM').then(() => {
          this.#running.delete(member.name)
          this.#ending.delete(member.name)
        })
        this.#ending.set(member.name, ended)
      }
    }
  }

  #launch({ name, folder, dataDir }: StaticMember, manifest: string): void {
    const [program = '', ...args] = parseStaticPod(readFileSync(manifest, 'utf8'))?.spec.containers[0]?.command ?? []
    // As a hostPath of the kind DirectoryOrCreate is.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    this.#running.set(name, new ChildProgram(program, args, join(folder, 'etcd.log')))
  }

  async #writeManifest({ name, url, peer, folder, manifests, dataDir }: StaticMember, etcd: string): Promise<void> {
    const tls = (prefix: string) => [
      `--${prefix}cert-file=${this.dir}/m.crt`,
      `--${prefix}key-file=${this.dir}/m.key`,
      `--${prefix}trusted-ca-file=${this.dir}/ca.crt`,
      `--${prefix}client-cert-auth=true`,
    ]
    const command = [
      etcd,
      `--name=${name}`,
      `--data-dir=${dataDir}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${this.initialCluster}`,
      ...tls(''),
      ...tls('peer-'),
      '--unsafe-no-fsync',
      '--log-level=error',
    ]
    mkdirSync(manifests, { recursive: true })
    const pod = { kind: 'Pod', spec: { containers: [{ image: 'registry.example/etcd:1', command }] } }
    // Whole at once: the kubelet here takes what it finds, and half a manifest starts nothing.
    const whole = join(folder, 'etcd.yaml')
    await writeFile(whole, JSON.stringify(pod))
    await rename(whole, join(manifests, 'etcd.yaml'))
  }
}
