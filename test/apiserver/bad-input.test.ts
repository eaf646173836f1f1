// Wrong input against a real server: one clear sentence and what to do next, the right exit code, no stack trace; and what
// only the cluster can tell is refused by the CLI at once, and by the operator before any node is touched.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { createScript } from '../../src/sim/workloads.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { makePair } from '../bed/certificates.ts'
import { freePorts } from '../bed/child-program.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { createNode, groupLabel, renewNodeLease } from '../rollout-rig/cluster-objects.ts'
import { accountAccess, kubectl } from '../rollout-rig/installation.ts'
import { listsApart, RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { type CommandResult, runSlipway, SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { writeKubeconfig } from './real-client.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const toNewest = ['update', '--kubernetes', 'v1.36.3'] as const

function expectOneSentence({ code, out, err }: CommandResult, expected: { code: number; says: RegExp }): void {
  expect({ code, err }).toEqual({ code: expected.code, err: expect.stringMatching(expected.says) })
  expect(err).toMatch(/^error: .+\n(\(Did you mean .+\)\n)?next: .+\n$/)
  expect(err).not.toMatch(/^\s+at /m)
  expect(out).toBe('')
}

describe.skipIf(missing)('a cluster that cannot be spoken to', () => {
  let server: ApiServer

  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
  })

  afterAll(async () => {
    await server?.stop()
  })

  const stranger = () => {
    const { certificate, key } = makePair(server.authority, { name: 'mallory' })
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
  }
  const nobodyListens = async () => `https://127.0.0.1:${(await freePorts(1))[0]}`
  const broken = async (name: string, text: string) => {
    const path = join(server.dir, name)
    await writeFile(path, text)
    return path
  }

  interface Case {
    readonly what: string
    readonly kubeconfig: () => string | Promise<string>
    readonly args: readonly string[]
    readonly code: number
    readonly says: RegExp
  }
  const cases: readonly Case[] = [
    {
      what: 'no kubeconfig there',
      kubeconfig: () => '/nonexistent/config',
      args: ['status'],
      code: 4,
      says: /\/nonexistent\/config/,
    },
    {
      what: 'a kubeconfig that is no YAML',
      kubeconfig: () => broken('broken.conf', 'clusters: [\n  {'),
      args: ['status'],
      code: 4,
      says: /broken\.conf/,
    },
    {
      what: 'a kubeconfig without a cluster',
      kubeconfig: () => broken('empty.conf', '{"apiVersion":"v1","kind":"Config"}'),
      args: ['nodes'],
      code: 4,
      says: /context/,
    },
    {
      what: 'a context that is not there',
      kubeconfig: () => server.kubeconfigPath,
      args: ['nodes', '--context', 'moon'],
      code: 4,
      says: /moon/,
    },
    {
      what: 'the operator with no kubeconfig',
      kubeconfig: () => '/nonexistent/config',
      args: ['operator', '--metrics-address', '127.0.0.1:0'],
      code: 4,
      says: /\/nonexistent\/config/,
    },
    {
      what: 'the agent with no kubeconfig',
      kubeconfig: () => '/nonexistent/config',
      args: ['agent', '--node-name', 'w1'],
      code: 4,
      says: /\/nonexistent\/config/,
    },
    {
      what: 'a server that does not answer',
      kubeconfig: async () => writeKubeconfig(server, 'away.conf', stranger(), { server: await nobodyListens() }),
      args: toNewest,
      code: 4,
      says: /the API server does not answer: .*127\.0\.0\.1/,
    },
    {
      what: 'credentials nobody knows',
      kubeconfig: () => writeKubeconfig(server, 'unknown.conf', { token: 'guessed' }),
      args: ['status'],
      code: 4,
      says: /does not accept these credentials/,
    },
    {
      what: 'a user without rights, reading',
      kubeconfig: () => writeKubeconfig(server, 'stranger.conf', stranger()),
      args: ['nodes'],
      code: 4,
      says: /you may not list .* in the whole cluster/,
    },
    {
      what: 'a user without rights, updating',
      kubeconfig: () => writeKubeconfig(server, 'stranger.conf', stranger()),
      args: toNewest,
      code: 4,
      says: /you may not (list|get) /,
    },
    {
      what: 'the operator without rights',
      kubeconfig: () => writeKubeconfig(server, 'stranger.conf', stranger()),
      args: ['operator', '--metrics-address', '127.0.0.1:0'],
      code: 4,
      says: /you may not list .* in the whole cluster/,
    },
    ...[['status'], ['nodes'], toNewest, ['operator', '--metrics-address', '127.0.0.1:0']].map((args) => ({
      what: `CRDs that are not installed: ${args.join(' ')}`,
      kubeconfig: () => server.kubeconfigPath,
      args,
      code: 4,
      says: /does not know the kind \w+ .*\n.*slipway install/,
    })),
    {
      what: 'an option that does not exist',
      kubeconfig: () => server.kubeconfigPath,
      args: ['update', '--kubernets', 'v1.36.3'],
      code: 2,
      says: /--kubernets/,
    },
    {
      what: 'a version that is none',
      kubeconfig: () => server.kubeconfigPath,
      args: ['update', '--kubernetes', 'newest'],
      code: 2,
      says: /full version such as v1\.36\.3/,
    },
    {
      what: 'nothing to do',
      kubeconfig: () => server.kubeconfigPath,
      args: ['update'],
      code: 2,
      says: /nothing to do/,
    },
    {
      what: 'a limit of nought',
      kubeconfig: () => server.kubeconfigPath,
      args: [...toNewest, '--max-unavailable', '0'],
      code: 2,
      says: /--max-unavailable/,
    },
    {
      what: 'a file that is not there',
      kubeconfig: () => server.kubeconfigPath,
      args: ['update', '-f', '/nonexistent/update.yaml'],
      code: 2,
      says: /\/nonexistent\/update\.yaml/,
    },
  ]

  test.concurrent.each(cases)('$what', async ({ kubeconfig, args, code, says }) => {
    expectOneSentence(await runSlipway(['--kubeconfig', await kubeconfig(), ...args]), { code, says })
  })
})

describe.skipIf(missing)('an update that this cluster cannot take', () => {
  const bare = 'bare'
  const old = 'old'
  const stateDir = mkdtempSync(join(tmpdir(), 'slipway-agent-'))
  let rig: RolloutRig
  let agent: SlipwayProcess
  let agentKubeconfig: string

  /** Besides the pretend machines one real agent, on this very machine, with the rights of one; and an old one that knows scripts only. */
  beforeAll(async () => {
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 2, agentProcesses: 1, work: '1s', version: 'v1.35.4' },
      apiArguments: listsApart,
    })
    await createNode(rig.api, { name: bare, controlPlane: false, group: 'real', version: 'v1.35.4' }, signal)
    const { metadata } = await rig.api.get(nodes, { name: bare }, signal)
    const { name, uid } = metadata
    agentKubeconfig = (await accountAccess(rig.server, 'slipway-agent', 'agent.conf', { name, uid })).kubeconfig
    const args = ['agent', '--kubeconfig', agentKubeconfig, '--node-name', bare, '--state-dir', stateDir]
    agent = new SlipwayProcess('agent', args, join(rig.server.dir, 'agent.log'))
    agent.start()
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(nodeStates, { name: bare }, signal)
      expect(status?.agent?.drivers, agent.log).toContain('script')
    }, 60_000)
    await createNode(rig.api, { name: old, controlPlane: false, group: 'old', version: 'v1.35.4' }, signal)
    await vi.waitFor(async () => {
      const facts = { os: 'Linux', kernel: '6.1', architecture: 'amd64', versionsOnOffer: [] }
      const told = { version: '0.0.1', bootID: 'b', epoch: 0, drivers: ['script'], facts }
      const body = { status: { agent: told } }
      await rig.api.patch(nodeStates, { name: old }, { type: 'merge', body }, signal, 'status')
    }, 60_000)
    rig.observer.sights.length = 0
  })

  afterAll(async () => {
    await agent?.stop()
    await rig?.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })

  interface Case {
    readonly reason: string
    readonly version: string
    readonly selector: { readonly key: string; readonly value: string }
    readonly says: string
  }
  const rehearsed = { key: groupLabel, value: 'g0' }
  const cases: readonly Case[] = [
    { reason: 'Downgrade', version: 'v1.34.9', selector: rehearsed, says: 'runs v1.35.4, which is newer' },
    { reason: 'VersionUnknown', version: 'v1.36.2', selector: rehearsed, says: 'cannot install v1.36.2' },
    { reason: 'VersionSkipsMinor', version: 'v2.0.0', selector: rehearsed, says: 'v1.36 first' },
    {
      reason: 'NothingSelected',
      version: 'v1.36.3',
      selector: { key: 'pool', value: 'none' },
      says: 'no node matches',
    },
    {
      reason: 'DriverMissing',
      version: 'v1.36.3',
      selector: { key: groupLabel, value: 'old' },
      says: `the agents on ${old} have no driver "kubeadm"`,
    },
  ]

  test.concurrent.each(cases)('the CLI refuses it at once: $reason', async ({ reason, version, selector, says }) => {
    const args = ['--kubernetes', version, '--selector', `${selector.key}=${selector.value}`]
    const result = await runSlipway(['--kubeconfig', rig.server.kubeconfigPath, 'update', ...args])
    expectOneSentence(result, { code: 3, says: new RegExp(`${reason}: [\\s\\S]*nothing was created`) })
    expect(result.err).toContain(says)
  })

  test.each(cases)('created all the same, it is not planned: $reason', async ({ reason, version, selector, says }) => {
    const name = `refused-${reason.toLowerCase()}`
    const spec: DirectUpdateSpec = {
      kubernetes: { version },
      nodeSelector: { matchLabels: { [selector.key]: selector.value } },
    }
    await rig.createUpdate(name, spec)
    await vi.waitFor(async () => {
      const { status } = await rig.update(name)
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({
          type: 'Planned',
          status: 'False',
          reason,
          message: expect.stringContaining(says),
        }),
      )
    }, 60_000)
  })

  test('and no node was touched by any of it', async () => {
    await rig.observer.catchUp()
    const touched = rig.observer.sights.filter(({ node }) => node !== bare)
    expect(touched).toEqual([])
    expect(rig.observer.cordoned()).toEqual([])
    const { items } = await rig.api.list(nodeStates, {}, signal)
    expect(items.filter(({ spec, status }) => spec.order || status?.rollout)).toEqual([])
    expect(rig.ranSteps()).toEqual([])
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])
  })

  test('an agent fetches what its order names', async () => {
    const now = new Date().toISOString()
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }
    const body = { status: { conditions: [ready] } }
    await rig.api.patch(nodes, { name: bare }, { type: 'merge', body }, signal, 'status')
    await renewNodeLease(rig.api, bare, new Date(), signal)
    await createScript(rig.api, 'work', 'true', signal)
    await rig.createUpdate('fetched', {
      script: { configMap: 'work', sha256: createHash('sha256').update('true').digest('hex') },
      nodeSelector: { matchLabels: { [groupLabel]: 'real' } },
      preflight: { skip: ['NodesReady'] },
    })
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(nodeStates, { name: bare }, signal)
      const { nodes: waiting } = (await rig.update('fetched')).status ?? {}
      expect(status?.agent?.order, JSON.stringify(waiting)).toMatchObject({ state: 'Succeeded' })
    }, 60_000)
    await kubectl(rig.server, ['delete', 'directupdates.slipway.dev', 'fetched', '--wait=false'])
  })

  test('CRDs that are older than this program', async () => {
    await kubectl(rig.server, ['patch', 'smp', 'default', '--type=merge', '-p', '{"spec":{"paused":true}}'])
    const field = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/nodeTimeout'
    const patch = JSON.stringify([{ op: 'remove', path: field }])
    await kubectl(rig.server, ['patch', 'crd', 'directupdates.slipway.dev', '--type=json', '-p', patch])
    const args = [...toNewest, '--selector', `${groupLabel}=g0`, '--node-timeout', '5m', '--no-wait']
    // The server takes a moment to use its new schema.
    await vi.waitFor(async () => {
      const result = await runSlipway(['--kubeconfig', rig.server.kubeconfigPath, ...args])
      expectOneSentence(result, { code: 4, says: /are older than this program: they do not know spec\.nodeTimeout/ })
    }, 60_000)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'bad-input')
  })
})
