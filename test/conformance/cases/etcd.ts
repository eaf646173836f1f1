import { join } from 'node:path'
import { nodeRequests } from '../../../src/adapters/secure-requests/node-requests.ts'
import { etcdDriver } from '../../../src/agent/drivers/etcd/etcd-driver.ts'
import { type DebPackage, debArchitecture } from '../../bed/deb-package.ts'
import { programFolder, sayToStderr } from '../../bed/programs.ts'
import { etcdVersion, kubernetesVersion, olderEtcdVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'

/** Two versions to install from a repository, with the unit of a host's own service. */
export async function etcdPackages(): Promise<DebPackage[]> {
  return [await packageOf(olderEtcdVersion), await packageOf(etcdVersion)]
}

/** With which a machine starts: the older one. */
export const oldEtcd = `etcd-server=${debVersion(olderEtcdVersion)}`

const unit = `[Service]
Type=notify
EnvironmentFile=-/etc/default/etcd
ExecStart=/usr/bin/etcd
Restart=on-failure
[Install]
WantedBy=multi-user.target
`
/** The agent of this suite runs beside the machine, not in its network. */
const settings = (address: string) => `ETCD_NAME=node
ETCD_DATA_DIR=/var/lib/etcd
ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
ETCD_ADVERTISE_CLIENT_URLS=http://${address}:2379
`

export const conformanceCase: ConformanceCase = {
  name: 'etcd',
  tool: { name: 'etcd', version: ['etcd', '--version'] },
  driver: etcdDriver(nodeRequests),
  seeds: [1],
  setUp: async (bed) => {
    const url = await bed.publish('etcd', await etcdPackages())
    const machine = await bed.machine()
    await bed.trust(machine, 'etcd', url)
    await machine.writeFile('/etc/default/etcd', settings(machine.address))
    await machine.run(['apt-get', 'update', '-qq'])
    await machine.run(['apt-get', 'install', '-y', '-qq', oldEtcd])
    await machine.run(['systemctl', 'enable', '--now', 'etcd'])
    await machine.run(['etcdctl', 'put', 'kept', 'yes'])
    return machine
  },
  order: () => Promise.resolve({ work: { kubernetes: { version: kubernetesVersion, components: ['etcd'] } } }),
  isDone: async (machine) => {
    const { stdout } = await machine.exec(['etcdctl', 'endpoint', 'status', '--write-out=json'])
    return stdout.includes(`"version":"${etcdVersion.slice(1)}"`)
  },
  check: async (machine) => {
    const kept = await machine.run(['etcdctl', 'get', '--print-value-only', 'kept'])
    if (kept !== 'yes\n') throw new Error(`etcd lost what was stored: ${kept}`)
  },
}

function debVersion(version: string): string {
  return `${version.slice(1)}-1`
}

async function packageOf(version: string): Promise<DebPackage> {
  const folder = await programFolder({ project: 'etcd', version, programs: ['etcd', 'etcdctl'] }, sayToStderr)
  const program = (name: string) => ({ path: `/usr/bin/${name}`, content: { file: join(folder, name) }, mode: 0o755 })
  return {
    name: 'etcd-server',
    version: debVersion(version),
    architecture: debArchitecture,
    files: [program('etcd'), program('etcdctl'), { path: '/lib/systemd/system/etcd.service', content: unit }],
  }
}
