// Three members of etcd: one on the machine under test, two on another that stays up, as the rest of a control plane would. On one
// machine a power loss would stop all three, and whom they elect afterwards is chance.

import { nodeRequests } from '../../../src/adapters/secure-requests/node-requests.ts'
import { controlPlaneDriver } from '../../../src/agent/drivers/control-plane/control-plane-driver.ts'
import { rebootDriver } from '../../../src/agent/drivers/reboot/reboot.ts'
import type { Bed } from '../../bed/bed.ts'
import type { Machine } from '../../bed/machine.ts'
import { programFolder, sayToStderr } from '../../bed/programs.ts'
import { etcdVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'

interface Member {
  readonly name: string
  readonly client: string
  readonly peer: string
  readonly electionMs: number
}

const programs = '/opt/etcd'
/** A peer is elected only after a silence that a busy machine does not make. */
const peerElectionMs = 3_000
/** By itself the member under test never stands for election: it leads when it is made to, and only then. */
const ownElectionMs = 45_000

export const conformanceCase: ConformanceCase = {
  name: 'control-plane',
  tool: { name: 'etcd', version: [`${programs}/etcd`, '--version'] },
  driver: controlPlaneDriver(nodeRequests),
  beside: [rebootDriver],
  staysDone: 'whoever leads, leads well',
  setUp: async (bed) => {
    // The peers of the property before: their member is gone.
    for (const machine of [...bed.machines]) await machine.destroy()
    const machine = await machineWithEtcd(bed)
    const others = await machineWithEtcd(bed)
    const own = memberAt(machine, 'etcd', 2379, ownElectionMs)
    const peers = [2379, 3379].map((port) => memberAt(others, `etcd-${port}`, port, peerElectionMs))
    await start(others, peers, [own, ...peers])
    await start(machine, [own], [own, ...peers])
    await etcdctl(machine, ['put', 'kept', 'yes'])
    const id = BigInt((await standing(machine)).member).toString(16)
    // Only who leads can be asked.
    await etcdctl(machine, ['move-leader', id], peers.map(({ client }) => client).join())
    return machine
  },
  // Nothing on the machine asks for a reboot, so leadership is all that moves.
  order: () => Promise.resolve({ role: 'ControlPlane', work: { reboot: 'IfRequired' } }),
  isDone: async (machine) => {
    const { member, leader } = await standing(machine)
    return leader !== '0' && leader !== member
  },
  check: async (machine) => {
    await etcdctl(machine, ['endpoint', 'health', '--cluster'])
    const kept = await etcdctl(machine, ['get', '--print-value-only', 'kept'])
    if (kept !== 'yes\n') throw new Error(`etcd lost what was stored: ${kept}`)
  },
}

async function machineWithEtcd(bed: Bed): Promise<Machine> {
  const set = { project: 'etcd', version: etcdVersion, programs: ['etcd', 'etcdctl'] } as const
  const from = await programFolder(set, sayToStderr)
  return bed.machine({ binds: [{ from, to: programs, readOnly: true }] })
}

/** The agent of this suite runs beside the machine, not in its network: an address that both reach. */
function memberAt({ address }: Machine, name: string, port: number, electionMs: number): Member {
  return { name, client: `http://${address}:${port}`, peer: `http://${address}:${port + 1}`, electionMs }
}

/** At once: none of them is ready before it has a majority. */
async function start(machine: Machine, members: readonly Member[], cluster: readonly Member[]): Promise<void> {
  for (const member of members) {
    await machine.writeFile(`/etc/systemd/system/${member.name}.service`, unitOf(member, cluster))
  }
  await machine.run(['systemctl', 'enable', '--now', ...members.map(({ name }) => name)])
}

function unitOf({ name, client, peer, electionMs }: Member, cluster: readonly Member[]): string {
  const flags = [
    `--name=${name}`,
    `--data-dir=/var/lib/${name}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${cluster.map((each) => `${each.name}=${each.peer}`).join()}`,
    '--heartbeat-interval=200',
    `--election-timeout=${electionMs}`,
    '--initial-election-tick-advance=false',
  ]
  return `[Service]
Type=notify
ExecStart=${[`${programs}/etcd`, ...flags].join(' ')}
Restart=on-failure
[Install]
WantedBy=multi-user.target
`
}

/** Their numbers as text: they have more digits than a number of JavaScript keeps. */
async function standing(machine: Machine): Promise<{ readonly member: string; readonly leader: string }> {
  const status = await etcdctl(machine, ['endpoint', 'status', '--write-out=json'])
  const [, member] = /"member_id":(\d+)/.exec(status) ?? []
  const [, leader = '0'] = /"leader":(\d+)/.exec(status) ?? []
  if (member === undefined) throw new Error(`etcd does not tell its member: ${status}`)
  return { member, leader }
}

/** The machine's own member is asked, unless others are named. */
function etcdctl(machine: Machine, words: readonly string[], endpoints = `http://${machine.address}:2379`) {
  return machine.run([`${programs}/etcdctl`, `--endpoints=${endpoints}`, ...words])
}
