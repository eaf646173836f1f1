import { describe, expect, it } from 'vitest'
import {
  agentOf,
  budgetReason,
  cliFixture,
  heartbeat,
  node,
  nodeState,
  upgradeMidway,
} from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { configMaps, leases, nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { type NodeProfileSpec, nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import { contentName } from '../../core/update/work-of.ts'

const name = 'to-v1-36-3-abcde'
const script = '#!/bin/sh\ntrue\n'
const scriptSum = script.length.toString(16).padStart(64, '0')
const readFile = async () => script
const kind = { apiVersion: 'slipway.dev/v1alpha1', kind: 'DirectUpdate' }

function twoNodes(): FakeKubeApi {
  return new FakeKubeApi()
    .put(nodes, node('cp1', { controlPlane: true }), node('w1'))
    .put(nodeStates, nodeState('cp1'), nodeState('w1'))
    .put(leases, heartbeat('cp1'), heartbeat('w1'))
}

function createdUpdate(api: FakeKubeApi): DirectUpdate {
  return api.found(directUpdates, { name })
}

/** Without the question who we are. */
const madeOn = (api: FakeKubeApi) => api.created.filter(({ kind }) => kind !== 'SelfSubjectReview')

const counts = { total: 2, done: 0, working: 0, waiting: 2, failed: 0, skipped: 0 }
const rollout = { update: name, operationID: `${name}/1` }

describe('update', () => {
  it('makes what the options say', async () => {
    const api = twoNodes()
      .put(nodes, node('w2', { labels: { pool: 'a' } }))
      .put(nodeStates, nodeState('w2'))
      .put(leases, heartbeat('w2'))
    const cli = cliFixture(api, { readFile })
    const code = await cli.run(
      ...['update', '--script', 'rotate.sh', '--name', 'rotate', '--selector', 'pool=a,gpu!=yes', '--no-wait'],
      ...['--max-unavailable', '10%', '--max-failures', '2', '--node-timeout', '5m', '--namespace', 'ops'],
    )
    expect(cli.err.text).toBe('')
    expect(code).toBe(0)
    expect(madeOn(api)).toMatchObject([
      {
        kind: 'ConfigMap',
        metadata: { name: contentName(scriptSum), namespace: 'ops' },
        immutable: true,
        data: { script },
      },
      {
        kind: 'DirectUpdate',
        metadata: { name: 'rotate' },
        spec: {
          script: { configMap: contentName(scriptSum), sha256: scriptSum },
          nodeSelector: {
            matchLabels: { pool: 'a' },
            matchExpressions: [{ key: 'gpu', operator: 'NotIn', values: ['yes'] }],
          },
          strategy: { maxUnavailable: '10%', maxFailures: 2 },
          nodeTimeout: '5m',
        },
      },
    ])
    expect(cli.out.text).toBe('rotate created; follow it: slipway status rotate -w\n')
  })

  it('takes a file, and options on top of it', async () => {
    const document = {
      apiVersion: 'slipway.dev/v1alpha1',
      kind: 'DirectUpdate',
      metadata: { name: 'from-file' },
      spec: { kubernetes: { version: 'v1.36.3' }, strategy: { maxUnavailable: 1, maxFailures: 1 } },
    }
    const api = twoNodes()
    const cli = cliFixture(api, { readFile: async () => JSON.stringify(document) })
    expect(await cli.run('update', '-f', 'u.yaml', '--max-unavailable', '3', '--no-wait')).toBe(0)
    expect(madeOn(api)).toMatchObject([
      { metadata: { name: 'from-file' }, spec: { ...document.spec, strategy: { maxUnavailable: 3, maxFailures: 1 } } },
    ])
  })

  it.each([
    [['--rollback', 'All'], 'All'],
    [['--rollback', 'Image'], 'Image'],
    [['--rollback', 'Never'], 'Never'],
    [[], undefined],
  ])('says what is undone where a step fails: %j', async (options, rollback) => {
    const api = twoNodes()
    const cli = cliFixture(api)
    expect(await cli.run('update', '--kubernetes', 'v1.36.3', '--name', 'u', '--no-wait', ...options)).toBe(0)
    expect(api.found(directUpdates, { name: 'u' }).spec.rollback).toBe(rollback)
  })

  it('refuses to undo what it does not know', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    expect(await cli.run('update', '--kubernetes', 'v1.36.3', '--rollback', 'Some', '--no-wait')).toBe(2)
    expect(cli.err.text).toContain('Image, All, Never')
    expect(madeOn(api)).toEqual([])
  })

  it('says what is backed up first: where, before what, how it is checked, or not at all', async () => {
    const spec = { kubernetes: { version: 'v1.36.3' }, backup: { store: 'nightly', verify: 'Hash', maxAge: '2h' } }
    const document = { apiVersion: 'slipway.dev/v1alpha1', kind: 'DirectUpdate', metadata: { name: 'u' }, spec }
    const backupStores = ['nightly', 'offsite'].map((store) => ({ name: store, path: `/b/${store}` }))
    const made = async (...options: readonly string[]) => {
      const api = twoNodes().put(maintenancePolicies, { metadata: { name: 'default' }, spec: { backupStores } })
      const cli = cliFixture(api, { readFile: async () => JSON.stringify(document) })
      const code = await cli.run('update', '--no-wait', ...options)
      return code === 0 ? api.found(directUpdates, { name: 'u' }).spec.backup : cli.err.text
    }
    const fresh = ['--kubernetes', 'v1.36.3', '--name', 'u']
    expect(await made(...fresh)).toBeUndefined()
    expect(await made(...fresh, '--backup', 'Never')).toEqual({ etcd: 'Never' })
    const all = ['--backup', 'Required', '--backup-store', 'offsite', '--backup-verify', 'Restore']
    const points = ['--backup-before', 'FirstWorker', 'ControlPlane', 'FirstWorker', '--backup-max-age', '30m']
    expect(await made(...fresh, ...all, ...points)).toEqual({
      etcd: 'Required',
      store: 'offsite',
      before: ['ControlPlane', 'FirstWorker'],
      verify: 'Restore',
      maxAge: '30m',
    })
    expect(await made('-f', 'u.yaml', '--backup-verify', 'Restore')).toEqual({ ...spec.backup, verify: 'Restore' })
    expect(await made(...fresh, '--backup-store', 'gone')).toContain('BackupStoreMissing')
    expect(await made(...fresh, '--backup', 'Sometimes')).toContain('Required, IfConfigured, Never')
    expect(await made(...fresh, '--backup-max-age', 'long')).toContain('such as 1h')
  })

  it('uses a script that is stored already, and refuses another content under its name', async () => {
    const stored = (content: string) =>
      twoNodes().put(configMaps, {
        metadata: {
          ...{ name: contentName(scriptSum), namespace: 'slipway-system' },
          ...{ uid: 'c', resourceVersion: '1', creationTimestamp: '2026-11-15T12:00:00Z' },
        },
        data: { script: content },
      })
    expect(await cliFixture(stored(script), { readFile }).run('update', '--script', 'x', '--no-wait')).toBe(0)
    const cli = cliFixture(stored('other'), { readFile })
    expect(await cli.run('update', '--script', 'x', '--no-wait')).toBe(3)
    expect(cli.err.text).toContain('is there with other content')
  })

  it('follows to the end in plain lines', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    const made = createdUpdate(api)
    const status = { observedGeneration: 1, operationID: `${name}/1`, startedAt: '2026-11-15T12:05:00Z' }
    api.put(directUpdates, { ...made, status: { ...status, phase: 'InProgress', summary: counts } })
    await cli.clock.advance(1000)
    const until = (time: string) => ({ ...budgetReason, message: `${budgetReason.message}; looking again at ${time}` })
    api.put(nodeStates, nodeState('cp1', { ...rollout, phase: 'Draining', reason: until('12:06') }))
    await cli.clock.advance(60_000)
    // Only the time of day in the sentence changed: no new line.
    api.put(nodeStates, nodeState('cp1', { ...rollout, phase: 'Draining', reason: until('12:07') }))
    api.put(
      nodeStates,
      nodeState('w1', { ...rollout, phase: 'Pending', reason: { code: 'BudgetSpent', message: 'one is away' } }),
    )
    await cli.clock.advance(1000)
    api.put(nodeStates, nodeState('cp1', { ...rollout, phase: 'Done' }), nodeState('w1', { ...rollout, phase: 'Done' }))
    const summary = { ...counts, done: 2, waiting: 0 }
    api.put(directUpdates, {
      ...made,
      status: { ...status, phase: 'Succeeded', summary, finishedAt: '2026-11-15T12:06:03Z' },
    })
    await cli.clock.advance(1000)
    expect(await ended).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "12:05:00 update to-v1-36-3-abcde Pending: v1.36.3, 0/2 done, 2 waiting
      12:05:01 update to-v1-36-3-abcde InProgress: v1.36.3, 0/2 done, 2 waiting
      12:05:02 cp1 Draining: waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed); looking again at 12:06
      12:06:03 cp1 Done
      12:06:03 w1 Done
      12:06:03 update to-v1-36-3-abcde Succeeded: v1.36.3, 2/2 done in 1m3s
      "
    `)
    expect(cli.clock.pendingTimers).toBe(0)
  })

  it('prints one JSON document at the end, and nothing else', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3', '--output', 'json')
    await cli.clock.advance(1000)
    const made = createdUpdate(api)
    api.put(directUpdates, {
      ...made,
      status: { observedGeneration: 1, phase: 'Failed', summary: { ...counts, failed: 1 } },
    })
    await cli.clock.advance(1000)
    expect(await ended).toBe(1)
    expect(JSON.parse(cli.out.text)).toMatchObject({ name, phase: 'Failed', summary: { failed: 1 } })
  })

  it('tells what the operator refused after all', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    const made = createdUpdate(api)
    const planned = {
      ...{ type: 'Planned', status: 'False' as const, reason: 'Downgrade', message: 'w1 runs v1.37.0' },
      lastTransitionTime: '2026-11-15T12:05:01Z',
    }
    api.put(directUpdates, { ...made, status: { observedGeneration: 1, phase: 'Failed', conditions: [planned] } })
    await cli.clock.advance(1000)
    expect(await ended).toBe(3)
    expect(cli.out.text).toContain(`update ${name} refused: Downgrade: w1 runs v1.37.0\n`)
    expect(cli.err.text).toBe(`next: slipway why ${name}\n`)
  })

  it.each([
    ['PreflightFailed', 'skip Certificates'],
    ['VersionSkipsMinor', 'no version of v1.37 is on offer'],
    ['RegistrySecretMissing', 'there is no Secret pull'],
    ['ProfileContradicted', 'NodeProfile base wants another'],
  ])('does not wait for what a person has to put right: %s', async (reason, message) => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    const made = createdUpdate(api)
    const planned = {
      ...{ type: 'Planned', status: 'False' as const, reason, message },
      lastTransitionTime: '2026-11-15T12:05:01Z',
    }
    api.put(directUpdates, { ...made, status: { observedGeneration: 1, phase: 'Pending', conditions: [planned] } })
    await cli.clock.advance(1000)
    expect(await ended).toBe(3)
    expect(cli.out.text).toContain(`update ${name} waits until that is put right: ${reason}: ${message}\n`)
    expect(cli.err.text).toBe(`next: slipway why ${name}\n`)
  })

  it('follows what waits for a registry until it has begun and ended', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    const made = createdUpdate(api)
    const planned = {
      ...{ type: 'Planned', status: 'False' as const, reason: 'VersionUnknown', message: 'the registry is away' },
      lastTransitionTime: '2026-11-15T12:05:01Z',
    }
    api.put(directUpdates, { ...made, status: { observedGeneration: 1, phase: 'Pending', conditions: [planned] } })
    await cli.clock.advance(60_000)
    expect(cli.out.text).toContain(
      `update ${name} waits, and begins by itself when it can: VersionUnknown: the registry is away\n`,
    )
    const summary = { ...counts, done: 2 }
    api.put(directUpdates, { ...made, status: { observedGeneration: 1, phase: 'Succeeded', summary } })
    await cli.clock.advance(1000)
    expect(await ended).toBe(0)
  })

  it('survives an API server that is away for a while, and says so once', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    const made = createdUpdate(api)
    api.goAway(new KubeError('Unreachable', 'connection refused'))
    await cli.clock.advance(120_000)
    api.failure = undefined
    api.put(directUpdates, {
      ...made,
      status: { observedGeneration: 1, phase: 'Succeeded', summary: { ...counts, done: 2 } },
    })
    await cli.clock.advance(10_000)
    expect(await ended).toBe(0)
    expect(cli.out.text.match(/does not answer/g)).toHaveLength(1)
    expect(cli.out.text.match(/answers again/g)).toHaveLength(1)
  })

  it('gives up when it stays away', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    api.goAway(new KubeError('Unreachable', 'connection refused'))
    await cli.clock.advance(400_000)
    expect(await ended).toBe(4)
    expect(cli.clock.pendingTimers).toBe(0)
  })

  it('takes the end for the end, also when the API server goes away in that moment', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    api.put(directUpdates, {
      ...createdUpdate(api),
      status: { observedGeneration: 1, phase: 'Succeeded', summary: { ...counts, done: 2, waiting: 0 } },
    })
    api.failure = new KubeError('Unreachable', 'connection refused')
    await cli.clock.advance(1000)
    expect(await ended).toBe(0)
    expect(cli.out.text).toContain(`update ${name} Succeeded`)
  })

  it('stops following on Ctrl-C, and says that the update goes on', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    api.put(nodeStates, nodeState('w1', { ...rollout, phase: 'Draining' }))
    cli.controller.abort()
    expect(await ended).toBe(130)
    expect(cli.err.text).toBe(`the update goes on; follow it again: slipway status ${name} -w\n`)
    expect(cli.clock.pendingTimers).toBe(0)
  })

  it('ends when somebody deletes the update', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    api.remove(directUpdates, { name })
    await cli.clock.advance(1000)
    expect(await ended).toBe(3)
    expect(cli.err.text).toContain(`error: DirectUpdate ${name} was deleted before its end [Refused]\n`)
  })

  it('takes no other update of the same name for its own', async () => {
    const api = twoNodes()
    const cli = cliFixture(api)
    const ended = cli.run('update', '--kubernetes', 'v1.36.3')
    await cli.clock.advance(1000)
    const { metadata, ...rest } = createdUpdate(api)
    api.remove(directUpdates, { name })
    api.put(directUpdates, {
      ...{ ...rest, metadata: { ...metadata, uid: 'another' } },
      status: { observedGeneration: 1, phase: 'Succeeded' },
    })
    await cli.clock.advance(1000)
    expect(await ended).toBe(3)
    expect(cli.err.text).toContain(`error: DirectUpdate ${name} was deleted before its end [Refused]\n`)
  })
})

describe('update of a profile', () => {
  const sysctls = { 'vm.swappiness': '10' }
  const agent = { ...agentOf(), drivers: [...agentOf().drivers, 'profile'] }
  const withProfile = (spec: NodeProfileSpec) =>
    twoNodes()
      .put(nodeStates, nodeState('cp1', undefined, agent), nodeState('w1', undefined, agent))
      .put(nodeProfiles, { metadata: { name: 'base' }, spec })
  const roll = ['update', '--profile', 'base', '--name', 'u', '--no-wait'] as const

  it('rolls out one that waits for it', async () => {
    const api = withProfile({ sysctls, rollout: 'ByUpdate' })
    const cli = cliFixture(api)
    expect({ code: await cli.run(...roll), err: cli.err.text }).toEqual({ code: 0, err: '' })
    expect(api.found(directUpdates, { name: 'u' }).spec).toEqual({ profile: 'base' })
  })

  it.each([
    ['none of that name', twoNodes(), 'ProfileUnknown: NodeProfile base is not there'],
    ['one that needs no update', withProfile({ sysctls }), 'ProfileUnknown: NodeProfile base rolls out by itself'],
  ])('refuses %s', async (_what, api, says) => {
    const cli = cliFixture(api)
    expect(await cli.run(...roll)).toBe(3)
    expect(cli.err.text).toContain(says)
    expect(api.created).toEqual([])
  })

  it('refuses work that a profile wants otherwise, by the name of the update', async () => {
    const api = withProfile({ packages: [{ name: 'kubelet', version: '1.35.*' }] })
    const cli = cliFixture(api)
    expect(await cli.run('update', '--kubernetes', 'v1.36.3', '--name', 'u', '--no-wait')).toBe(3)
    expect(cli.err.text).toContain(
      'ProfileContradicted: DirectUpdate u brings kubelet to v1.36.3, but NodeProfile base pins package kubelet to 1.35.*',
    )
    expect(api.created).toEqual([])
  })

  it('leaves profiles that this user may not see to the operator, and judges the rest', async () => {
    const unseen = () => {
      const api = twoNodes()
      api.before = (_verb, { plural }) => {
        if (plural === 'nodeprofiles') throw new KubeError('Forbidden', 'no', { status: 403 })
      }
      return api
    }
    const api = unseen()
    expect(await cliFixture(api).run(...roll)).toBe(0)
    expect(api.found(directUpdates, { name: 'u' }).spec).toEqual({ profile: 'base' })
    const cli = cliFixture(unseen())
    expect(await cli.run(...roll, '--selector', 'pool=none')).toBe(3)
    expect(cli.err.text).toContain('NothingSelected')
  })
})

describe('update from a file', () => {
  it('takes the update among other objects, and names what it leaves alone', async () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'ceph-reader' } }
    const update = { ...kind, metadata: { name: 'with-gate' }, spec: { kubernetes: { version: 'v1.36.3' } } }
    const api = twoNodes()
    const text = [role, update].map((one) => JSON.stringify(one)).join('\n---\n')
    const cli = cliFixture(api, { readFile: async () => text })
    expect(await cli.run('update', '--no-wait', '-f', 'u.yaml')).toBe(0)
    expect(madeOn(api)).toMatchObject([{ kind: 'DirectUpdate', metadata: { name: 'with-gate' } }])
    expect(cli.err.text).toBe('left alone in u.yaml: ClusterRole ceph-reader; to apply them: kubectl apply -f u.yaml\n')
  })
})

describe('update refuses before anything is created', () => {
  it.each([
    { argv: ['--kubernetes', 'v1.34.0'], code: 3, says: 'Downgrade: cp1 runs v1.35.4' },
    { argv: ['--kubernetes', 'v1.36.2'], code: 3, says: 'VersionUnknown: ' },
    { argv: ['--kubernetes', 'v1.36.3', '-l', 'pool=none'], code: 3, says: 'NothingSelected: ' },
    { argv: ['--kubernetes', '1.36'], code: 2, says: 'It must be a full version such as v1.36.3' },
    { argv: ['--kubernetes', 'v1.36.3', '--max-unavailable', '0'], code: 2, says: 'at least 1' },
    { argv: ['--kubernetes', 'v1.36.3', '--max-unavailable', '0%'], code: 2, says: 'a percentage such as 10%' },
    { argv: ['--kubernetes', 'v1.36.3', '--node-timeout', 'soon'], code: 2, says: 'It must be a duration' },
    { argv: ['--kubernetes', 'v1.36.3', '--name', 'Big'], code: 2, says: 'It must be lower-case' },
    { argv: [], code: 2, says: '--profile NAME, --script FILE, --reboot Always or -f FILE' },
    { argv: ['--script', 'gone.sh'], code: 2, says: 'gone.sh cannot be read: it is not there' },
    { argv: ['--kubernetes', 'v1.36.3', '-f', 'x.yaml'], code: 2, says: 'cannot be used with' },
  ])('$argv', async ({ argv, code, says }) => {
    const api = twoNodes()
    const cli = cliFixture(api)
    expect(await cli.run('update', ...argv)).toBe(code)
    expect(cli.err.text).toContain(says)
    expect(cli.err.text).not.toMatch(/\n\s+at /)
    expect(api.created).toEqual([])
  })

  it.each([
    { text: '{"kind":"Pod"}', says: 'u.yaml is not a DirectUpdate' },
    { text: 'no: [yaml', says: 'u.yaml is not YAML' },
    {
      text: JSON.stringify({ ...kind, spec: { kubernets: {} } }),
      says: 'u.yaml: spec: there is no field "kubernets" here',
    },
    {
      text: JSON.stringify({
        ...kind,
        spec: { kubernetes: { version: 'v1.36.3' }, nodeTimeout: 'x' },
      }),
      says: 'u.yaml: spec.nodeTimeout: ',
    },
    {
      text: JSON.stringify({ ...kind, spec: { kubernetes: { version: 1.36 } } }),
      says: 'u.yaml: spec.kubernetes.version: it is a number, and text is wanted: put it in quotes',
    },
    { text: [kind, kind].map((one) => JSON.stringify(one)).join('\n---\n'), says: 'u.yaml holds 2 DirectUpdates' },
  ])('a file with $text', async ({ text, says }) => {
    const api = twoNodes()
    const cli = cliFixture(api, { readFile: async () => text })
    expect(await cli.run('update', '-f', 'u.yaml')).toBe(2)
    expect(cli.err.text).toContain(says)
    expect(api.created).toEqual([])
  })
})

describe('status -w', () => {
  it('writes a JSON document for each change', async () => {
    const api = upgradeMidway()
    const cli = cliFixture(api)
    const ended = cli.run('status', '-w', '-o', 'json')
    // The file of a command is loaded in its own time.
    await expect.poll(() => cli.clock.advance(100).then(() => cli.out.text)).toContain('InProgress')
    api.put(nodeStates, nodeState('w2', { phase: 'Done' }))
    await cli.clock.advance(1000)
    const made = api.found(directUpdates, { name: 'to-1-36' })
    api.put(directUpdates, { ...made, status: { ...made.status, phase: 'RequiresAttention' } })
    await cli.clock.advance(1000)
    expect(await ended).toBe(3)
    const phases = cli.out.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).phase)
    expect(phases).toEqual(['InProgress', 'InProgress', 'RequiresAttention'])
  })
})
