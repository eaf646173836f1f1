// Undo on a booted machine with real files, apt and systemd: an order that is asked back, the point of no return, and an undo that
// fails. What the agent says of it is held against the machine.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packagesDriver } from '../../src/agent/drivers/packages/packages-driver.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { configMaps } from '../../src/api/kube.ts'
import type { NodeProfileSpec } from '../../src/api/node-profile.ts'
import type { AgentOrder, Order } from '../../src/api/node-state.ts'
import type { Content, Work } from '../../src/api/work.ts'
import { canonicalJson } from '../../src/core/fingerprint.ts'
import { profileParts } from '../../src/main/roles/profile-parts.ts'
import { scriptOrder } from '../agent/agent-bench.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { contentOf } from '../conformance/conformance-case.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { nodeProfile, stateOf } from '../samples/profiles.ts'
import { tool } from './package-machine.ts'
import { ResidentAgent } from './resident-agent.ts'

const stateDir = '/var/lib/slipway'
const replaced = '/etc/issue.net'
const fresh = '/etc/fresh/deep.conf'
const mark = '/srv/mark'
const leaveMark = `touch ${mark}\n`

/** Whoever comes to it says so, and waits until it is open. */
const gate = { reached: '/run/gate-reached', open: '/run/gate-open' }
const passGate = `touch ${gate.reached}; until [ -e ${gate.open} ]; do sleep 0.1; done`
const gateUnit = `[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c '${passGate}'\n`

let bed: Bed
let machine: Machine
let before: string

beforeAll(async () => {
  bed = await openBed()
  machine = await bed.machine()
  const broken = tool('fragile', '2.0', { scripts: { postinst: '#!/bin/sh\necho it does not start\nexit 1\n' } })
  const offered = [tool('greeter', '1.0'), tool('greeter', '2.0'), tool('fragile', '1.0'), broken]
  await bed.trust(machine, 'tools', await bed.publish('tools', offered))
  await machine.run(['apt-get', 'update'])
  await machine.run(['apt-get', '-y', 'install', 'greeter=1.0', 'fragile=1.0'])
  await machine.writeFile(replaced, 'as found\n', 0o600)
  await machine.writeFile('/etc/systemd/system/gate.service', gateUnit)
  await machine.writeFile(gate.open, '')
  await machine.run(['systemctl', 'start', 'gate.service'])
  before = await picture()
})

afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

/** The drivers that these orders need, in the order in which the agent of a host has them. */
function residentAgent(): ResidentAgent {
  return new ResidentAgent(machine, (clock) => [
    profileParts(hostOfMachine(machine), clock, stateDir).driver,
    scriptDriver,
    packagesDriver,
  ])
}

function put({ cluster }: ResidentAgent, text: string): Content {
  const content = contentOf(text)
  const metadata = { name: content.configMap, namespace: content.namespace }
  cluster.api.put(configMaps, { metadata, data: { script: text } })
  return content
}

/** The profile first, then the rest of the work. */
function orderFor(agent: ResidentAgent, id: string, spec: NodeProfileSpec, work: Work): Order {
  const desired = put(agent, canonicalJson(stateOf(nodeProfile('base', spec))))
  const profile = { profiles: ['base'], desired }
  return scriptOrder({ id, rollback: 'All', timeout: '10m', work: { profile, ...work } })
}

/** A person puts everything back that profiles have brought. */
async function clearUp(agent: ResidentAgent, id: string): Promise<void> {
  const { state, reason } = await agent.carryOut(orderFor(agent, id, {}, { script: put(agent, `rm -f ${mark}\n`) }))
  expect(state, reason?.message).toBe('Succeeded')
  expect(await picture()).toBe(before)
}

async function closeGate(): Promise<void> {
  await machine.run(['rm', '-f', gate.reached, gate.open])
}

const isThere = async (path: string) => (await machine.exec(['test', '-e', path])).code === 0
const atGate = () => expect.poll(() => isThere(gate.reached)).toBe(true)
const modeOf = async (path: string) => (await machine.run(['stat', '-c', '%a', path])).trim()
const stateOfPackage = async (name: string) =>
  (await machine.run(['dpkg-query', '-Wf', `\${Version} \${Status}`, name])).trim()
const isJournalled = (id: string, end: string) => isThere(`${stateDir}/orders/${id}/${end}`)
const begun = ({ steps }: AgentOrder) =>
  steps.filter(({ attempts }) => attempts > 0).map(({ name, state }) => `${name} ${state}`)

/** All that these orders could change. */
async function picture(): Promise<string> {
  const listing = 'find /etc /srv ! -path /etc/ld.so.cache -printf "%p %y %m %u:%g %l\\n" | sort'
  const sums = 'find /etc /srv -type f ! -path /etc/ld.so.cache | sort | xargs sha256sum'
  const packages = 'COLUMNS=200 dpkg --list; apt-mark showhold; apt-mark showauto'
  return await machine.run(['sh', '-c', [listing, sums, packages].join('; ')])
}

describe('an order that is asked back', () => {
  it('in the middle leaves the machine as it was', async () => {
    await closeGate()
    await using agent = residentAgent()
    const spec: NodeProfileSpec = {
      packages: [{ name: 'greeter', version: '2.0', hold: true }],
      files: [
        { path: replaced, content: 'welcome\n', mode: '0644', restarts: ['gate.service'] },
        { path: fresh, content: 'deep\n' },
      ],
    }
    const order = orderFor(agent, 'asked-back', spec, { script: put(agent, leaveMark) })
    agent.cluster.place(order)
    await atGate()
    expect(await stateOfPackage('greeter')).toBe('2.0 hold ok installed')
    expect(await machine.readFile(replaced)).toBe('welcome\n')
    expect(await machine.readFile(fresh)).toBe('deep\n')
    agent.cluster.place({ ...order, desired: 'PutBack' })
    await machine.writeFile(gate.open, '')

    const ended = await agent.until(order.id, ({ finishedAt }) => finishedAt !== undefined)
    expect(ended).toMatchObject({
      state: 'Withdrawn',
      rolledBack: true,
      reason: { code: 'OrderWithdrawn', message: 'the update was cancelled; what was done is as before' },
    })
    // What had begun ends, nothing more begins, and only what changed something is taken back.
    expect(begun(ended)).toEqual([
      'profile-packages Succeeded',
      'profile-settings Succeeded',
      'undo-profile-stage Succeeded',
      'undo-profile-retire Succeeded',
      'undo-profile-packages Succeeded',
      'undo-profile-record Succeeded',
    ])
    expect(await stateOfPackage('greeter')).toBe('1.0 install ok installed')
    expect(await machine.readFile(replaced)).toBe('as found\n')
    expect(await modeOf(replaced)).toBe('600')
    expect(await picture()).toBe(before)
    expect(await isJournalled(order.id, 'withdrawn')).toBe(true)
  })

  it('after its script has begun is finished', async () => {
    await closeGate()
    await using agent = residentAgent()
    const spec = { files: [{ path: replaced, content: 'welcome\n' }] }
    const script = { ...put(agent, `${passGate}\n`), validate: put(agent, leaveMark) }
    const order = orderFor(agent, 'too-late', spec, { script })
    agent.cluster.place(order)
    await atGate()
    agent.cluster.place({ ...order, desired: 'PutBack' })
    await machine.writeFile(gate.open, '')
    const ended = await agent.until(order.id, ({ finishedAt }) => finishedAt !== undefined)
    expect(ended.state).toBe('Succeeded')
    expect(ended.reason).toBeUndefined()
    expect(ended.rolledBack).toBeUndefined()
    expect(await machine.readFile(replaced)).toBe('welcome\n')
    // Of the step that was still to come.
    expect(await isThere(mark)).toBe(true)
    await clearUp(agent, 'too-late-away')
  })
})

it('an order that fails past the point of no return is undone as far as that, and no further', async () => {
  await using agent = residentAgent()
  const spec = { files: [{ path: replaced, content: 'welcome\n' }] }
  const order = orderFor(agent, 'no-return', spec, { script: put(agent, leaveMark), os: { packages: 'All' } })
  const ended = await agent.carryOut(order)
  expect(ended).toMatchObject({
    state: 'Failed',
    reason: {
      code: 'PointOfNoReturn',
      message: expect.stringMatching(
        /^step upgrade-packages ended with exit code .*; step script and what came before it were not undone: only its author knows what a script did$/s,
      ),
    },
  })
  expect(ended.rolledBack).toBeUndefined()
  expect(begun(ended)).toEqual([
    'profile-settings Succeeded',
    'profile-record Succeeded',
    'script Succeeded',
    'upgrade-packages Failed',
    'return-packages Succeeded',
  ])
  // Behind the point.
  expect(await stateOfPackage('greeter')).toBe('1.0 install ok installed')
  expect(await stateOfPackage('fragile')).toBe('1.0 install ok installed')
  // Before it.
  expect(await machine.readFile(replaced)).toBe('welcome\n')
  expect(await isThere(mark)).toBe(true)
  await clearUp(agent, 'no-return-away')
})

it('an undo that fails ends the order, and says where the machine was left', async () => {
  const id = 'half-undone'
  const inTheWay = `rm ${replaced}; mkdir ${replaced}; touch ${replaced}/mine; exit 3\n`
  const spec: NodeProfileSpec = {
    packages: [{ name: 'greeter', version: '2.0' }],
    files: [
      { path: fresh, content: 'deep\n' },
      { path: replaced, content: 'welcome\n' },
    ],
  }
  let ended: AgentOrder
  {
    await using agent = residentAgent()
    ended = await agent.carryOut(orderFor(agent, id, spec, { script: put(agent, inTheWay) }))
    expect(ended).toMatchObject({
      state: 'Failed',
      finishedAt: expect.any(String),
      reason: {
        code: 'UndoFailed',
        message: expect.stringMatching(
          /^the host is half undone: step undo-profile-retire was to undo what was done and failed; not run after it: steps undo-profile-repositories, undo-profile-packages, .*; look at it with slipway logs w1 --step undo-profile-retire, then at the host\. .*\/etc\/issue\.net.*What came first: step script ended with exit code 3/s,
        ),
      },
    })
    expect(ended.rolledBack).toBeUndefined()
    expect(begun(ended)).toEqual([
      'profile-packages Succeeded',
      'profile-settings Succeeded',
      'profile-record Succeeded',
      'script Failed',
      'undo-profile-stage Succeeded',
      'undo-profile-retire Failed',
    ])
    // One file is back; what is in the way of the other one is somebody's; the package was not come to.
    expect(await isThere(fresh)).toBe(false)
    expect(await isThere(`${replaced}/mine`)).toBe(true)
    expect(await stateOfPackage('greeter')).toBe('2.0 install ok installed')
    expect(await isJournalled(id, 'failed')).toBe(true)
  }
  // It has ended: another life of the agent says the same and does nothing, though nothing is in the way by now.
  await machine.run(['rm', '-r', replaced])
  await using agent = residentAgent()
  expect(await agent.carryOut(orderFor(agent, id, spec, { script: put(agent, inTheWay) }))).toEqual(ended)
  expect(await isThere(replaced)).toBe(false)
  // And nothing of what was there before is forgotten.
  await clearUp(agent, `${id}-away`)
})
