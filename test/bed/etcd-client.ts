// etcdctl of this machine against a cluster's etcd, with the credentials of its first control plane.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Execution, execute } from './execute.ts'
import type { Machine } from './machine.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { etcdVersion } from './versions.ts'

export type EtcdClient = (args: readonly string[], endpoints?: readonly Machine[]) => Promise<Execution>

const pki = '/etc/kubernetes/pki/etcd'

/** Asks all given control planes unless told which; the folder keeps the credentials. */
export async function etcdClient(controlPlanes: readonly Machine[], folder: string): Promise<EtcdClient> {
  const set = { project: 'etcd', version: etcdVersion, programs: ['etcdctl'] } as const
  const program = join(await programFolder(set, sayToStderr), 'etcdctl')
  await mkdir(folder, { recursive: true })
  const files = ['ca.crt', 'server.crt', 'server.key']
  for (const name of files) {
    const content = await controlPlanes[0]?.readFile(`${pki}/${name}`)
    await writeFile(join(folder, name), content ?? '', { mode: 0o600 })
  }
  const [authority, certificate, key] = files.map((name) => join(folder, name))
  return (args, endpoints = controlPlanes) => {
    const addresses = endpoints.map(({ address }) => `https://${address}:2379`).join(',')
    const credentials = [`--cacert=${authority}`, `--cert=${certificate}`, `--key=${key}`]
    return execute([program, `--endpoints=${addresses}`, ...credentials, ...args])
  }
}
