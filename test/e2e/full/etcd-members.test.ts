// An etcd of three members that run as services of their hosts is upgraded member by member, and goes on answering; no member is
// touched while another one is down.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Order } from '../../../src/api/node-state.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import type { Machine } from '../../bed/machine.ts'
import { conformanceCase, etcdPackages, oldEtcd } from '../../conformance/cases/etcd.ts'
import { driveOrder } from '../../conformance/drive-order.ts'

const writeEveryMs = 200

const settings = ({ name, address }: Machine, members: readonly Machine[]) => `ETCD_NAME=${name}
ETCD_DATA_DIR=/var/lib/etcd
ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
ETCD_ADVERTISE_CLIENT_URLS=http://${address}:2379
ETCD_LISTEN_PEER_URLS=http://${address}:2380
ETCD_INITIAL_ADVERTISE_PEER_URLS=http://${address}:2380
ETCD_INITIAL_CLUSTER=${members.map((member) => `${member.name}=http://${member.address}:2380`).join(',')}
`

describe('an etcd of three members on its hosts', () => {
  let bed: Bed
  let members: readonly Machine[]
  let orders = 0

  beforeAll(async () => {
    bed = await openBed()
    const url = await bed.publish('etcd', await etcdPackages())
    members = await Promise.all(Array.from({ length: 3 }, () => bed.machine()))
    for (const machine of members) {
      await bed.trust(machine, 'etcd', url)
      await machine.writeFile('/etc/default/etcd', settings(machine, members))
      await machine.run(['apt-get', 'update', '-qq'])
      await machine.run(['apt-get', 'install', '-y', '-qq', oldEtcd])
    }
    // None is up before a second one is.
    await Promise.all(members.map((machine) => machine.run(['systemctl', 'enable', '--now', 'etcd'])))
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  async function upgrade(machine: Machine) {
    const order: Order = {
      id: `etcd-members-${++orders}`,
      update: 'etcd-members',
      nodeUID: 'node-uid',
      epoch: 1,
      role: 'ControlPlane',
      offline: 'Refused',
      desired: 'Run',
      timeout: '30m',
      ...(await conformanceCase.order(machine)),
    }
    return (await driveOrder({ machine, caseFile: 'etcd.ts', order })).report
  }

  const everywhere = () => `--endpoints=${members.map(({ address }) => `http://${address}:2379`).join(',')}`

  test('leaves all members alone while one of them is down', { timeout: 400_000 }, async () => {
    const [first, second] = members
    if (!first || !second) throw new Error('three members were asked for')
    await second.run(['systemctl', 'stop', 'etcd'])
    const report = await upgrade(first)
    expect(report).toMatchObject({ state: 'Failed', reason: { code: 'EtcdUnhealthy' } })
    expect(report.reason?.message).toContain(second.name)
    expect(await conformanceCase.isDone(first)).toBe(false)
    await second.run(['systemctl', 'start', 'etcd'])
  })

  test('takes every write while one member after the other is replaced', { timeout: 300_000 }, async () => {
    const [first] = members
    if (!first) throw new Error('three members were asked for')
    const lost: string[] = []
    let written = 0
    let isOver = false
    const writing = (async () => {
      for (; !isOver; written++) {
        // As a client does: the next member is asked where one does not answer.
        const put = await first.exec(['etcdctl', everywhere(), '--command-timeout=5s', 'put', `key${written}`, 'value'])
        if (put.code !== 0) lost.push(put.stderr)
        await wait(writeEveryMs)
      }
    })()
    for (const machine of members) {
      expect(await upgrade(machine)).toMatchObject({ state: 'Succeeded' })
      expect(await conformanceCase.isDone(machine)).toBe(true)
    }
    isOver = true
    await writing
    expect(lost).toEqual([])
    expect(written).toBeGreaterThan(20)
    const count = await first.run(['etcdctl', 'get', '--prefix', 'key', '--count-only', '--write-out=fields'])
    expect(count).toContain(`"Count" : ${written}`)
  })
})
