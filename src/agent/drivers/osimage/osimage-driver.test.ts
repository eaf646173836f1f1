import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { digestOf, PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Order } from '../../../api/node-state.ts'
import type { OsWork } from '../../../api/work.ts'
import { osImageDriver } from './osimage-driver.ts'

const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]
const gpgKey = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----\n'
const guardFiles = '/pretend/files/'
const guardPath = (name: string) => `${guardFiles}${encodeURIComponent(`/var/lib/slipway/boot-guard/${name}`)}`

function imageOrder(os: OsWork = { image: `${repository}:stable` }, part: Partial<Order> = {}): Order {
  return scriptOrder({ work: { os }, rollback: 'Image', ...part })
}

function machine(engine: 'rpm-ostree' | 'bootc' = 'rpm-ostree', seed = 1) {
  const bench = new AgentBench(seed)
  bench.drivers = [osImageDriver({ clock: bench.clock, signatures: keyPairSignatures })]
  const tools = new PretendImageTools(bench, engine, old)
  tools.publish('stable', next)
  tools.publish('old', old)
  const guardIsThere = () =>
    [...bench.disk.files.keys()].some((path) => path.startsWith(guardFiles) && path.includes('boot-guard'))
  return { bench, tools, guardIsThere }
}

function begin({ bench }: ReturnType<typeof machine>, order: Order): void {
  bench.cluster.place(order)
  bench.start()
}

/** `crictl info` of containerd 2.2, shortened; it warns of cgroup v1. */
const runtimeSays =
  (hasNetwork: boolean) =>
  ([program]: readonly string[]) => {
    const conditions = [
      { type: 'ContainerdHasNoDeprecationWarnings', status: false, reason: 'ContainerdHasDeprecationWarnings' },
      { type: 'RuntimeReady', status: true, reason: '', message: '' },
      {
        type: 'NetworkReady',
        status: hasNetwork,
        reason: 'NetworkPluginNotReady',
        message: 'Network plugin returns error: cni plugin not initialized',
      },
    ]
    return program === 'crictl'
      ? { exitCode: 0, stdout: JSON.stringify({ status: { conditions } }), stderr: '' }
      : undefined
  }

const isBeingStaged =
  ({ bench }: ReturnType<typeof machine>) =>
  () =>
    bench.host.executions.some(({ step }) => step === 'stage-image')

const stepStates = (bench: AgentBench) => bench.order?.steps.map(({ name, state }) => `${name} ${state}`)

describe.each(['rpm-ostree', 'bootc'] as const)('an OS image by %s', (engine) => {
  it.each([
    ['tag', `${repository}:stable`],
    ['digest', `${repository}@${next.digest}`],
  ])('named by %s is fetched, staged, booted and confirmed', async (_, image) => {
    const host = machine(engine)
    host.tools.override = runtimeSays(true)
    begin(host, imageOrder({ image }))
    await host.tools.until('Succeeded')
    expect(host.tools.booted.digest).toBe(next.digest)
    expect(host.bench.host.reboots).toBe(1)
    expect(host.guardIsThere()).toBe(false)
    expect(stepStates(host.bench)?.slice(0, 5)).toEqual([
      'set-boot-guard Succeeded',
      'stage-image Succeeded',
      'check-image-programs Succeeded',
      'boot-image Succeeded',
      'confirm-image Succeeded',
    ])
  })

  it('that is booted already is left alone', async () => {
    const host = machine(engine)
    begin(host, imageOrder({ image: `${repository}:old` }))
    await host.tools.until('Succeeded')
    expect(host.bench.host.reboots).toBe(0)
    expect(host.bench.host.executions).toEqual([])
    expect(host.guardIsThere()).toBe(false)
  })

  it('is resolved once: a tag that moves later moves nobody', async () => {
    const host = machine(engine)
    begin(host, imageOrder(undefined, { desired: 'Stage' }))
    await host.bench.clock.until(host.bench.hasEnded('Staged'))
    host.tools.publish('stable', pretendImage('5.0'))
    host.bench.cluster.place(imageOrder())
    await host.tools.until('Succeeded')
    expect(host.tools.booted.digest).toBe(next.digest)
  })

  it('is fetched while the node works, and nothing is staged', async () => {
    const host = machine(engine)
    begin(host, imageOrder(undefined, { desired: 'Stage' }))
    await host.bench.clock.until(host.bench.hasEnded('Staged'))
    const pulls = host.tools.asked.filter((line) => /download-only|image pull \/ostree/.test(line))
    expect(pulls).toHaveLength(1)
    expect(host.tools.staged).toBeUndefined()
    expect(host.guardIsThere()).toBe(false)
  })

  it('with another kubelet than the update names is refused while the node works', async () => {
    const host = machine(engine)
    host.tools.kubelets.set(next.digest, 'v1.37.0').set(old.digest, 'v1.35.4')
    begin(host, imageOrder(undefined, { desired: 'Stage' }))
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason).toMatchObject({
      code: 'ImageKubernetesOther',
      message: expect.stringContaining('brings kubelet v1.37.0, this host runs v1.35.4'),
    })
    expect(host.tools.staged).toBeUndefined()
  })

  it('that cannot be looked into for want of room is tried again', async () => {
    const host = machine(engine)
    host.tools.kubelets.set(next.digest, 'v1.35.4').set(old.digest, 'v1.35.4')
    host.tools.override = ([program]) =>
      program === 'mkdir' ? { exitCode: 1, stdout: '', stderr: 'No space left on device' } : undefined
    begin(host, imageOrder(undefined, { desired: 'Stage' }))
    await host.bench.clock.until(() => host.bench.order?.reason?.code === 'StagingFailed')
    host.tools.override = () => undefined
    await host.bench.clock.until(host.bench.hasEnded('Staged'))
  })

  it('that is being fetched when the agent dies is not fetched twice', async () => {
    const host = machine(engine)
    begin(host, imageOrder(undefined, { desired: 'Stage' }))
    await host.bench.clock.until(() => host.bench.host.executions.length === 1)
    host.bench.kill()
    host.bench.restart()
    await host.bench.clock.until(host.bench.hasEnded('Staged'))
    expect(host.bench.host.executions).toHaveLength(1)
  })

  it('that was staged when the power failed is staged again', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.tools.boot('power loss')
    expect(host.tools.booted.digest).toBe(old.digest)
    await host.tools.until('Succeeded')
    expect(host.tools.booted.digest).toBe(next.digest)
  })

  it('whose kubelet fails is taken back', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.tools.kubelet = 'failed'
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageUnhealthy' } })
    expect(host.tools.booted.digest).toBe(old.digest)
    expect(host.guardIsThere()).toBe(false)
  })

  it('whose runtime has no network is taken back, though its kubelet runs', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.tools.override = runtimeSays(false)
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({
      rolledBack: true,
      reason: { code: 'ImageUnhealthy', message: expect.stringContaining('cni plugin not initialized') },
    })
    expect(host.tools.booted.digest).toBe(old.digest)
  })

  it('that the guard went back from is reported', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    // The kubelet of the new image never starts the agent; the guard's time is over.
    const { disk } = host.bench
    const armed = disk.files.get(guardPath('armed'))?.content ?? ''
    host.bench.kill()
    disk.budget = Number.POSITIVE_INFINITY
    disk.putResult(guardPath('returned'), armed)
    disk.files.delete(guardPath('armed'))
    disk.durable.delete(guardPath('armed'))
    host.tools.boot('power loss')
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageRolledBack' } })
    expect(host.bench.host.reboots).toBe(1)
    expect(host.guardIsThere()).toBe(false)
  })

  it('is confirmed before the last word where its order was withdrawn meanwhile', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.bench.cluster.place(imageOrder(undefined, { desired: 'Withdraw' }))
    host.tools.boot('orderly')
    await host.tools.until('Withdrawn')
    expect(host.tools.booted.digest).toBe(next.digest)
    expect(host.bench.host.reboots).toBe(1)
    expect(host.guardIsThere()).toBe(false)
  })

  it('whose kubelet fails is taken back before the last word where its order was withdrawn meanwhile', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.bench.cluster.place(imageOrder(undefined, { desired: 'Withdraw' }))
    host.tools.kubelet = 'failed'
    host.tools.boot('orderly')
    await host.tools.until('Withdrawn')
    expect(host.bench.host.reboots).toBe(2)
    expect(host.tools.booted.digest).toBe(old.digest)
    expect(host.bench.order?.warnings).toContainEqual(expect.stringContaining('taken back'))
    expect(host.guardIsThere()).toBe(false)
  })

  it.each(['Image', 'Never'] as const)('staged for an order that is withdrawn is dropped (%s)', async (rollback) => {
    const host = machine(engine)
    begin(host, imageOrder(undefined, { rollback }))
    await host.bench.clock.until(isBeingStaged(host))
    host.bench.cluster.place(imageOrder(undefined, { rollback, desired: 'Withdraw' }))
    await host.bench.clock.until(host.bench.hasEnded('Withdrawn'))
    expect(host.tools.staged).toBeUndefined()
    expect(host.guardIsThere()).toBe(false)
    expect(host.bench.host.reboots).toBe(0)
  })

  it('staged for an order whose time is over is dropped', async () => {
    const host = machine(engine)
    begin(host, imageOrder(undefined, { timeout: '5m' }))
    await host.bench.clock.until(isBeingStaged(host))
    host.bench.cluster.goAway()
    await host.bench.clock.advance(10 * 60_000)
    host.bench.cluster.comeBack()
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason?.code).toBe('OrderTimedOut')
    expect(host.tools.staged).toBeUndefined()
    expect(host.guardIsThere()).toBe(false)
  })

  it('that is staged for longer than its order has time is taken back, and that is said', async () => {
    const host = machine(engine)
    host.tools.stagesInMs = 3_600_000
    begin(host, imageOrder(undefined, { timeout: '5m' }))
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'StepTimedOut' } })
    expect(stepStates(host.bench)?.at(-1)).toBe('return-image Succeeded')
    expect(host.guardIsThere()).toBe(false)
  })

  it('that cannot be dropped is told of, and its order stays open until it can', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(isBeingStaged(host))
    host.tools.override = ([, ...args]) =>
      args.includes('cleanup') || args.includes('undeploy') ? { exitCode: 1, stdout: '', stderr: 'busy' } : undefined
    host.bench.cluster.place(imageOrder(undefined, { desired: 'Withdraw' }))
    await host.bench.clock.until(() => host.bench.order?.reason?.code === 'ImageToolFailed')
    expect(host.bench.order?.state).toBe('Running')
    host.tools.override = () => undefined
    await host.bench.clock.until(host.bench.hasEnded('Withdrawn'))
    expect(host.tools.staged).toBeUndefined()
  })

  it.each([
    ['by itself', 'Run', 'Failed'],
    ['with its order withdrawn', 'Withdraw', 'Withdrawn'],
  ] as const)('past which a person boots the old one starts with no later boot (%s)', async (_, desired, end) => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.bench.cluster.place(imageOrder(undefined, { desired }))
    host.tools.boot('orderly', 1)
    expect(host.tools.booted.digest).toBe(old.digest)
    await host.tools.until(end)
    expect(host.guardIsThere()).toBe(false)
    host.tools.boot('orderly')
    expect(host.tools.booted.digest).toBe(old.digest)
  })

  it('that the boot menu still starts keeps its guard and its order open', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.bench.cluster.place(imageOrder(undefined, { desired: 'Withdraw' }))
    // Somebody has pinned it: the tools say that all went well.
    host.tools.override = ([, ...args]) =>
      args.includes('cleanup') || args.includes('undeploy') ? { exitCode: 0, stdout: '', stderr: '' } : undefined
    host.tools.boot('orderly', 1)
    await host.bench.clock.until(() => host.bench.order?.reason?.code === 'ImageToolFailed')
    expect(host.bench.order).toMatchObject({ state: 'Running' })
    expect(host.guardIsThere()).toBe(true)
    host.tools.override = () => undefined
    await host.tools.until('Withdrawn')
    expect(host.guardIsThere()).toBe(false)
  })

  it('whose way back fails is told of, and its order stays open until nothing of it is left', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(isBeingStaged(host))
    host.tools.override = ([, ...args]) =>
      args.includes('cleanup') || args.includes('undeploy') ? { exitCode: 1, stdout: '', stderr: 'busy' } : undefined
    host.bench.cluster.place(imageOrder(undefined, { desired: 'PutBack' }))
    await host.bench.clock.until(() => host.bench.order?.reason?.message.includes('busy') === true)
    expect(host.bench.order?.state).toBe('Running')
    expect(host.guardIsThere()).toBe(true)
    host.tools.override = () => undefined
    await host.bench.clock.until(() => host.bench.order?.finishedAt !== undefined)
    expect(host.tools.staged).toBeUndefined()
    expect(host.guardIsThere()).toBe(false)
  })

  it('that the boot loader comes back with each time is not left for ever', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.host.reboots === 1)
    host.tools.kubelet = 'failed'
    // The way back goes well, and the next boot starts the new image all the same.
    host.tools.override = ([program]) => (program === '/bin/sh' ? { exitCode: 0, stdout: '', stderr: '' } : undefined)
    host.tools.boot('orderly')
    await host.tools.until('Failed')
    expect(host.bench.host.reboots).toBe(4)
    expect(host.tools.booted.digest).toBe(next.digest)
    expect(host.bench.order).toMatchObject({ reason: { code: 'UndoFailed' } })
    expect(JSON.stringify(host.bench.order)).toContain('booted 3 times to leave')
    expect(host.guardIsThere()).toBe(false)
  })

  it('that never boots is not tried for ever', async () => {
    const host = machine(engine)
    begin(host, imageOrder())
    for (let boots = 1; boots <= 3; boots++) {
      await host.bench.clock.until(() => host.bench.host.reboots === boots)
      host.tools.boot('power loss')
    }
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageNotBooted' } })
    expect(host.tools.staged).toBeUndefined()
  })
})

describe('what cannot be installed is never drained for', () => {
  const cases: readonly [string, OsWork, string][] = [
    ['an unknown tag', { image: `${repository}:nosuch` }, 'ImageUnknown'],
    ['no image at all', { image: 'not an image' }, 'ImageUnknown'],
    ['an unsigned image', { image: `${repository}:stable`, verify: { key: pem() } }, 'ImageUntrusted'],
    ['a GPG key for what is no commit', { image: `${repository}:stable`, verify: { key: gpgKey } }, 'ImageUntrusted'],
    ['a key that is none', { image: `${repository}:stable`, verify: { key: 'no key' } }, 'ImageUntrusted'],
  ]

  it.each(cases)('%s', async (_, os, code) => {
    const host = machine()
    begin(host, imageOrder(os, { desired: 'Stage' }))
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason?.code).toBe(code)
    expect(host.tools.asked.some((line) => line.includes('rebase'))).toBe(false)
  })

  it.each([
    ['no tool', ['rpm-ostree', 'bootc', 'ostree']],
    ['no skopeo', ['skopeo']],
  ])('%s on the host', async (_, missing) => {
    const host = machine()
    host.tools.override = ([program = '']) =>
      missing.includes(program) ? { exitCode: 127, stdout: '', stderr: '' } : undefined
    begin(host, imageOrder())
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason?.code).toBe('ImageToolMissing')
  })

  it('a host that does not run from an image', async () => {
    const host = machine()
    await host.bench.host.files.remove('/run/ostree-booted')
    begin(host, imageOrder())
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason?.code).toBe('ImageToolMissing')
  })

  it('an image larger than the disk', async () => {
    const host = machine()
    host.tools.publish('large', pretendImage('large', [{ digest: digestOf('layer'), size: 10 ** 15 }]))
    begin(host, imageOrder({ image: `${repository}:large` }))
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason).toMatchObject({ code: 'ImageTooLarge' })
  })

  it('a disk that fills while it is fetched', async () => {
    const host = machine()
    host.tools.override = (argv) =>
      argv.includes('--download-only')
        ? { exitCode: 1, stdout: '', stderr: 'error: Importing: No space left on device' }
        : undefined
    begin(host, imageOrder())
    await host.bench.clock.until(host.bench.hasEnded('Failed'))
    expect(host.bench.order?.reason?.code).toBe('ImageTooLarge')
  })
})

describe('a signature', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()

  function sealed(claims: string) {
    const host = machine()
    const claim = JSON.stringify({
      critical: { image: { 'docker-manifest-digest': claims }, type: 'cosign container image signature' },
    })
    const signature = sign('sha256', Buffer.from(claim), pair.privateKey).toString('base64')
    const annotations = { 'dev.cosignproject.cosign/signature': signature }
    host.tools.blobs.set(digestOf(claim), claim)
    const manifest = pretendImage('signature', [{ digest: digestOf(claim), size: claim.length, annotations }])
    host.tools.registry.set(`${next.digest.replace(':', '-')}.sig`, manifest)
    return host
  }

  it.each([
    ['by the key holds', next.digest, key, 'Staged', undefined],
    ['by another key does not', next.digest, pem(), 'Failed', 'ImageUntrusted'],
    ['of another image does not', old.digest, key, 'Failed', 'ImageUntrusted'],
  ])('%s', async (_, claims, wantedKey, state, code) => {
    const host = sealed(claims)
    begin(host, imageOrder({ image: `${repository}:stable`, verify: { key: wantedKey } }, { desired: 'Stage' }))
    await host.bench.clock.until(host.bench.hasEnded(state))
    expect(host.bench.order?.reason?.code).toBe(code)
  })
})

describe('a registry that goes away', () => {
  it('before it answered is asked again', async () => {
    const host = machine()
    host.tools.isRegistryAway = true
    begin(host, imageOrder())
    await host.bench.clock.until(() => host.bench.order?.reason?.code === 'StagingFailed')
    host.tools.isRegistryAway = false
    await host.tools.until('Succeeded')
  })

  it('after the drain is asked again for some minutes', async () => {
    const host = machine()
    begin(host, imageOrder(undefined, { desired: 'Stage' }))
    await host.bench.clock.until(host.bench.hasEnded('Staged'))
    host.tools.isRegistryAway = true
    host.bench.cluster.place(imageOrder())
    await host.bench.clock.until(() => host.bench.host.executions.length === 3)
    host.tools.isRegistryAway = false
    await host.tools.until('Succeeded')
  })
})

it('an order that never rolls back sets no guard and leaves the new image', async () => {
  const host = machine()
  begin(host, imageOrder(undefined, { rollback: 'Never' }))
  await host.bench.clock.until(() => host.bench.host.reboots === 1)
  expect(host.guardIsThere()).toBe(false)
  host.tools.kubelet = 'failed'
  await host.tools.until('Failed')
  expect(host.tools.booted.digest).toBe(next.digest)
  expect(host.bench.order?.rolledBack).toBeUndefined()
})

it('an agent killed at any of its writes ends in the new image', async () => {
  for (let cut = 0; cut <= 200; cut += 3) {
    const host = machine('rpm-ostree', cut)
    const { bench, tools } = host
    bench.cluster.place(imageOrder())
    const dead = await bench.startAndDieAfter(cut, () => bench.host.reboots === 1)
    if (dead) bench.restart()
    else tools.boot(cut % 2 === 0 ? 'orderly' : 'power loss')
    await tools.until('Succeeded')
    expect(tools.booted.digest, `killed after ${cut} operations`).toBe(next.digest)
    expect(host.guardIsThere()).toBe(false)
  }
})

function pem(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString()
}
