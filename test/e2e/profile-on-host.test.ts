// A NodeProfile on a booted machine with real apt and systemd: applied, kept true, and removed without a trace.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { runAgent } from '../../src/agent/agent.ts'
import { sha256 } from '../../src/agent/journal/sealed-file.ts'
import type { DesiredState } from '../../src/api/desired-state.ts'
import { configMaps } from '../../src/api/kube.ts'
import type { NodeProfileSpec } from '../../src/api/node-profile.ts'
import { canonicalJson } from '../../src/core/fingerprint.ts'
import { profileParts } from '../../src/main/roles/profile-parts.ts'
import { scriptOrder } from '../agent/agent-bench.ts'
import { OneNodeCluster } from '../agent/one-node-cluster.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { signingKey } from '../bed/signing-key.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { RecordingLog } from '../fakes/recording-log.ts'
import { nodeProfile, noState, stateOf } from '../samples/profiles.ts'

const stateDir = '/var/lib/slipway'
const unit = '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n'

let bed: Bed
let machine: Machine
let cluster: OneNodeCluster
let stop: AbortController
let running: Promise<void>
let spec: NodeProfileSpec
let orders = 0
const log = new RecordingLog()

beforeAll(async () => {
  bed = await openBed()
  machine = await bed.machine()
  const url = await bed.publish('tools', [
    { name: 'libgreet', version: '1.0-1', files: [{ path: '/usr/lib/greet', content: 'lib\n' }] },
    {
      name: 'greeter',
      version: '1.2-1',
      control: { Depends: 'libgreet' },
      conffiles: ['/etc/greeter.conf'],
      files: [
        { path: '/etc/greeter.conf', content: 'as packaged\n' },
        { path: '/usr/lib/systemd/system/greeter.service', content: unit },
      ],
    },
  ])
  await machine.writeFile('/etc/issue.net', 'of the distribution\n', 0o600)
  const key = await readFile((await signingKey('trusted')).armoredPath, 'utf8')
  spec = {
    repositories: [{ name: 'tools', apt: { uris: [url], suites: ['/'], signedBy: key } }],
    packages: [{ name: 'greeter', version: '1.*', hold: true }],
    files: [
      { path: '/etc/greeter.conf', content: 'as the profile wants\n', restarts: ['greeter.service'] },
      { path: '/etc/issue.net', content: 'welcome\n', mode: '0644' },
      { path: '/opt/a/b/c', content: 'deep\n', owner: 'daemon', group: 'daemon' },
    ],
    units: [
      {
        name: 'greeter.service',
        enabled: true,
        state: 'Running',
        dropIns: [{ name: 'nice.conf', content: '[Service]\nNice=5\n' }],
      },
    ],
    sysctls: { 'net.ipv4.ip_default_ttl': '70' },
  }
  start()
})

afterAll(async () => {
  stop.abort()
  await running
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

function start(): void {
  cluster = new OneNodeCluster()
  cluster.place(undefined)
  stop = new AbortController()
  const host = hostOfMachine(machine)
  const clock = new SystemClock()
  const { driver, sideTasks } = profileParts(host, clock, stateDir)
  running = runAgent(
    {
      ...{ api: cluster.api, host, clock, random: new SystemRandom(), log, nodeName: 'w1', stateDir, version: '0.1.0' },
      ...{ drivers: [driver], sideTasks },
    },
    stop.signal,
  )
}

function put(state: DesiredState) {
  const text = canonicalJson(state)
  const desired = { configMap: `content-${orders}`, namespace: 'slipway-system', sha256: sha256(text) }
  const metadata = { name: desired.configMap, namespace: desired.namespace }
  cluster.api.put(configMaps, { metadata, data: { script: text } })
  return desired
}

async function apply(state: DesiredState) {
  orders += 1
  const desired = put(state)
  const id = `op-${orders}`
  cluster.place(scriptOrder({ id, kind: 'NodeProfile', work: { profile: { profiles: ['base'], desired } } }))
  await vi.waitFor(() => expect(cluster.agent?.order).toMatchObject({ id, finishedAt: expect.any(String) }), {
    timeout: 120_000,
    interval: 50,
  })
  return { desired, order: cluster.agent?.order }
}

/** Everything a profile could have left behind. */
async function trace(): Promise<string> {
  const listing =
    'find /etc /opt /usr/lib/systemd/system ! -path "/etc/ld.so.cache" -printf "%p %y %m %u:%g %l\\n" | sort'
  const sums = 'find /etc /opt -type f ! -path "/etc/ld.so.cache" | sort | xargs sha256sum'
  const packages = 'COLUMNS=200 dpkg --list; apt-mark showhold; apt-mark showauto'
  const rest =
    'systemctl show greeter.service --property=LoadState,ActiveState; sysctl net.ipv4.ip_default_ttl; ls /var/lib/slipway'
  return await machine.run(['sh', '-c', [listing, sums, packages, rest].join('; ')])
}

const text = (path: string) => machine.readFile(path)
const soon = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 60_000, interval: 200 })

describe('a profile on a real host', () => {
  let before: string

  test('is applied: repository, package, files, unit, sysctl', async () => {
    await apply(noState)
    before = await trace()
    const { order } = await apply(stateOf(nodeProfile('base', spec)))
    expect(order).toMatchObject({ state: 'Succeeded' })
    expect(await text('/etc/greeter.conf')).toBe('as the profile wants\n')
    expect(await machine.run(['stat', '-c', '%a %U', '/opt/a/b/c'])).toBe('644 daemon\n')
    expect(await machine.run(['apt-mark', 'showhold'])).toBe('greeter\n')
    const shown = await machine.run([
      'systemctl',
      'show',
      'greeter.service',
      '--property=ActiveState,UnitFileState,Nice',
    ])
    expect(shown.split('\n').sort().join(' ').trim()).toBe('ActiveState=active Nice=5 UnitFileState=enabled')
    expect(await machine.run(['sysctl', '-n', 'net.ipv4.ip_default_ttl'])).toBe('70\n')
  })

  test('a second time starts nothing', async () => {
    const { order } = await apply(stateOf(nodeProfile('base', spec)))
    expect(order?.steps.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0, 0, 0, 0])
  })

  test('drift is repaired, or told of where it needs an order', async () => {
    const { desired } = await apply(stateOf(nodeProfile('base', spec)))
    cluster.placeDrift({ desired, check: '2s', action: 'Repair' })
    await soon(async () => expect(cluster.agent?.profile?.checkedAt).toBeDefined())
    await machine.run(['sh', '-c', 'echo mine >/etc/issue.net; chmod 600 /opt/a/b/c; systemctl stop greeter.service'])
    await machine.run(['sysctl', '-q', '-w', 'net.ipv4.ip_default_ttl=33'])
    await machine.run(['apt-mark', 'unhold', 'greeter'])
    await soon(async () => {
      expect(await text('/etc/issue.net')).toBe('welcome\n')
      expect(await machine.run(['stat', '-c', '%a', '/opt/a/b/c'])).toBe('644\n')
      expect(await machine.run(['systemctl', 'is-active', 'greeter.service'])).toBe('active\n')
      expect(await machine.run(['sysctl', '-n', 'net.ipv4.ip_default_ttl'])).toBe('70\n')
      expect(cluster.agent?.profile?.drift?.map(({ item }) => item)).toEqual(['package greeter'])
    })
  })

  test('is removed without a trace', async () => {
    const { order } = await apply(noState)
    expect(order).toMatchObject({ state: 'Succeeded' })
    expect(await trace()).toBe(before)
  })

  test('its removal leaves what it should keep', async () => {
    await apply(stateOf(nodeProfile('base', { files: spec.files?.slice(1, 2) ?? [], whenRemoved: 'Keep' })))
    await apply(noState)
    expect(await text('/etc/issue.net')).toBe('welcome\n')
  })

  test('nothing fails besides', () => {
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})
