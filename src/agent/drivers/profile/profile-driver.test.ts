import { describe, expect, test } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import type { PretendUnit } from '../../../../test/agent/pretend-system.ts'
import { ProfileBench } from '../../../../test/agent/profile-bench.ts'
import { nodeProfile, noState, stateOf } from '../../../../test/samples/profiles.ts'
import type { NodeProfileSpec } from '../../../api/node-profile.ts'

const state = (spec: NodeProfileSpec) => stateOf(nodeProfile('base', spec))
const conf = '/etc/chrony/chrony.conf'

const whole: NodeProfileSpec = {
  files: [
    { path: conf, content: 'pool example\n', mode: '0640', restarts: ['chrony.service'] },
    { path: '/etc/motd', content: 'hello\n' },
  ],
  units: [
    { name: 'chrony.service', enabled: true, state: 'Running', dropIns: [{ name: 'a.conf', content: '[Service]\n' }] },
    { name: 'telnet.socket', enabled: false, state: 'Stopped' },
  ],
  sysctls: { 'vm.swappiness': '10', 'net.ipv4.tcp_rmem': '1 2 3' },
  kernelArguments: { add: ['mitigations=auto'], remove: ['quiet'] },
}

const bridgeKey = 'net.bridge.bridge-nf-call-iptables'
const idle = { load: 'loaded', active: 'inactive', file: 'static' }
const bridged: NodeProfileSpec = {
  files: [
    {
      path: '/etc/modules-load.d/k8s.conf',
      content: 'br_netfilter\n',
      restarts: ['systemd-modules-load.service'],
    },
  ],
  sysctls: { [bridgeKey]: '1', 'vm.swappiness': '10' },
}

/** As kubeadm's instructions prepare a host: the kernel has the setting once the module is loaded. */
async function benchWithModule(unit: PretendUnit): Promise<ProfileBench> {
  const made = await bench()
  made.system.units.set('systemd-modules-load.service', unit)
  made.system.onStart.set('systemd-modules-load.service', () => {
    if (!made.system.sysctls.has(bridgeKey)) made.system.sysctls.set(bridgeKey, '0')
  })
  made.start()
  return made
}

async function bench(seed?: number): Promise<ProfileBench> {
  const made = new ProfileBench(seed)
  made.system.units.set('chrony.service', { load: 'loaded', active: 'inactive', file: 'disabled' })
  made.system.units.set('telnet.socket', { load: 'loaded', active: 'active', file: 'enabled' })
  made.system.units.set('kubelet.service', { load: 'loaded', active: 'active', file: 'enabled' })
  made.system.sysctls.set('vm.swappiness', '60').set('net.ipv4.tcp_rmem', '4\t5\t6')
  await made.writeFile(conf, 'pool before\n', 0o600)
  // It was there long before.
  for (const folder of ['/', '/pretend']) await made.disk.syncFolder(folder)
  return made
}

describe('applying a profile', () => {
  test('makes files, settings, units and kernel arguments as wanted', async () => {
    const b = await bench()
    b.start()
    const order = await b.apply(state(whole))
    expect(order?.reason).toBeUndefined()
    expect(order?.state).toBe('Succeeded')
    expect(b.system.fileText(conf)).toBe('pool example\n')
    expect(await b.host.files.look(conf)).toMatchObject({ mode: 0o640 })
    expect(b.system.fileText('/etc/systemd/system/chrony.service.d/a.conf')).toBe('[Service]\n')
    expect(b.system.units.get('chrony.service')).toMatchObject({ active: 'active', file: 'enabled' })
    expect(b.system.units.get('telnet.socket')).toMatchObject({ active: 'inactive', file: 'disabled' })
    expect(b.system.sysctls.get('vm.swappiness')).toBe('10')
    expect(b.system.commands).toContain('systemctl daemon-reload')
    expect([...b.kernelArguments]).toEqual(['mitigations=auto'])
  })

  test('is refused before the node is drained where a file cannot be written', async () => {
    const b = await bench()
    // As coreutils 9 answers for a mount that is read-only, or a file that `chattr +i` was done to.
    b.host.answer = (command) =>
      command.argv.join(' ') === `test -w ${conf}` ? { exitCode: 1, stdout: '', stderr: '' } : b.system.answer(command)
    b.start()
    const before = b.machine()
    const order = await b.apply(state(whole))
    expect(order).toMatchObject({
      state: 'Failed',
      reason: { code: 'PathTaken', message: expect.stringContaining(`${conf} is mounted read-only`) },
    })
    expect(order?.steps?.some((step) => step.state !== 'Pending')).toBe(false)
    expect(b.machine()).toEqual(before)
  })

  test('a second time starts nothing', async () => {
    const b = await bench()
    b.start()
    await b.apply(state(whole))
    const before = b.machine()
    const order = await b.apply(state(whole))
    expect(order?.steps.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect(b.machine()).toEqual(before)
  })

  test('restarts what runs when a file of it changed, and starts nothing that was stopped', async () => {
    const b = await bench()
    b.start()
    const files = (content: string) => ({
      files: [{ path: '/etc/a', content, restarts: ['telnet.socket', 'chrony.service'] }],
    })
    await b.apply(state(files('1')))
    await b.apply(state(files('2')))
    expect(b.system.restarts).toEqual(['telnet.socket', 'telnet.socket'])
  })

  test('tells of a kubelet restart only where there was one', async () => {
    const b = await bench()
    b.start()
    const calm = await b.apply(state({ files: [{ path: '/etc/a', content: '1' }] }))
    expect(calm?.kubeletRestartedAt).toBeUndefined()
    const restarted = await b.apply(state({ files: [{ path: '/etc/a', content: '2', restarts: ['kubelet.service'] }] }))
    expect(restarted?.kubeletRestartedAt).toBeDefined()
    expect(b.system.restarts).toEqual(['kubelet.service'])
  })

  test.each([
    { what: 'that runs', unit: { load: 'loaded', active: 'active', file: 'static' } },
    { what: 'that had nothing to do at boot', unit: { ...idle, skipped: true } },
  ])('sets what comes with a module that a restart loads, of a unit $what', async ({ unit }) => {
    const b = await benchWithModule(unit)
    const order = await b.apply(state(bridged))
    expect(order).toMatchObject({ state: 'Succeeded' })
    expect(b.system.sysctls.get(bridgeKey)).toBe('1')
    const { commands } = b.system
    const restart = commands.indexOf('systemctl restart -- systemd-modules-load.service')
    // A unit that reads settings when it starts finds those the kernel had before.
    expect(commands.findIndex((command) => command.startsWith('sysctl -q -p'))).toBeLessThan(restart)
    expect((await b.apply(noState))?.state).toBe('Succeeded')
    expect(b.system.sysctls.get(bridgeKey)).toBe('0')
    expect(b.system.sysctls.get('vm.swappiness')).toBe('60')
  })

  test('sets what comes with a module that a wanted unit loads', async () => {
    const b = await benchWithModule({ ...idle })
    const { files: _, ...spec } = bridged
    const units = [{ name: 'systemd-modules-load.service', state: 'Running' as const }]
    expect(await b.apply(state({ ...spec, units }))).toMatchObject({ state: 'Succeeded' })
    expect(b.system.sysctls.get(bridgeKey)).toBe('1')
  })

  test('does all it can before it fails for a setting the kernel has not', async () => {
    const b = await bench()
    b.start()
    const { sysctls, ...rest } = whole
    const order = await b.apply(state({ ...rest, sysctls: { 'a.nothing': '1', ...sysctls } }), { rollback: 'Never' })
    expect(order).toMatchObject({ state: 'Failed', reason: { code: 'SettingRefused' } })
    expect(b.system.sysctls.get('vm.swappiness')).toBe('10')
    expect(b.system.units.get('chrony.service')).toMatchObject({ active: 'active' })
  })

  const faults: readonly { what: string; spec: NodeProfileSpec; code: string; says: string }[] = [
    {
      what: 'a setting the kernel has not',
      spec: { sysctls: { 'vm.nothing': '1' } },
      code: 'SettingRefused',
      says: 'vm.nothing',
    },
    {
      what: 'a unit that does not start',
      spec: { units: [{ name: 'chrony.service', state: 'Running' }] },
      code: 'UnitFailed',
      says: 'Job for chrony.service failed',
    },
    {
      what: 'no such unit',
      spec: { units: [{ name: 'no.service', enabled: true }] },
      code: 'UnitFailed',
      says: 'no.service',
    },
  ]
  test.each(faults)('fails with $code for $what', async ({ spec, code, says }) => {
    const b = await bench()
    b.system.broken.add('chrony.service')
    b.start()
    const order = await b.apply(state(spec))
    expect(order).toMatchObject({ state: 'Failed', reason: { code, message: expect.stringContaining(says) } })
  })

  test('refuses a state of another format while the node still works', async () => {
    const b = await bench()
    b.start()
    const odd = { ...noState, format: 2 }
    const order = await b.apply(odd as never)
    expect(order).toMatchObject({
      state: 'Failed',
      reason: { code: 'DriverMissing' },
      steps: [{ attempts: 0 }, {}, {}, {}, {}, {}, {}],
    })
  })

  test('keeps what is sealed out of the record, the journal and the commands', async () => {
    const b = await bench()
    b.start()
    const text = Buffer.from('swordfish').toString('base64')
    const sealed = { secret: 's', key: 'k', version: '1', recipient: 'r', text }
    const file = { ...state({ files: [{ path: '/etc/token', content: '' }] }).files[0]!, sealed }
    const { content: _, ...secret } = file
    expect((await b.apply({ ...noState, files: [secret] }))?.state).toBe('Succeeded')
    expect(b.system.fileText('/etc/token')).toBe('swordfish')
    const elsewhere = [...b.disk.files].filter(([path]) => !path.startsWith('/pretend/files'))
    expect(JSON.stringify([elsewhere, b.system.commands, b.log.lines, b.cluster.node])).not.toContain('swordfish')
  })
})

describe('removing a profile', () => {
  test('leaves no trace, whatever it was changed to meanwhile', async () => {
    const b = await bench()
    const before = b.machine()
    b.start()
    await b.apply(state(whole))
    await b.apply(state({ ...whole, files: [{ path: conf, content: 'other\n' }], sysctls: { 'vm.swappiness': '20' } }))
    const order = await b.apply(noState)
    expect(order?.state).toBe('Succeeded')
    expect(b.machine()).toEqual(before)
  })

  test('ends where a setting went with its module', async () => {
    const b = await benchWithModule({ load: 'loaded', active: 'active', file: 'static' })
    await b.apply(state(bridged))
    b.system.sysctls.delete(bridgeKey)
    expect(await b.apply(noState)).toMatchObject({ state: 'Succeeded' })
    expect(b.system.sysctls.get('vm.swappiness')).toBe('60')
  })

  test('keeps what it should keep', async () => {
    const b = await bench()
    b.start()
    await b.apply(state({ ...whole, whenRemoved: 'Keep' }))
    const { record: _, ...applied } = b.machine() as { record: string }
    await b.apply(noState)
    expect(b.machine()).toEqual({ ...applied, record: undefined })
  })

  test('of one of two leaves what the other wants', async () => {
    const b = await bench()
    b.start()
    const [one, two] = [
      nodeProfile('one', { sysctls: { 'vm.swappiness': '10' } }),
      nodeProfile('two', { files: [{ path: '/etc/motd', content: 'x' }] }),
    ]
    await b.apply(stateOf(one, two))
    await b.apply(stateOf(two))
    expect(b.system.sysctls.get('vm.swappiness')).toBe('60')
    expect(b.system.fileText('/etc/motd')).toBe('x')
    expect(b.system.fileText('/etc/sysctl.d/90-slipway-one.conf')).toBeUndefined()
  })
})

describe('undoing', () => {
  test('goes back to the profile before, when other work of the order fails', async () => {
    const b = await bench()
    b.start()
    await b.apply(state({ files: [{ path: conf, content: 'first\n' }] }))
    const before = b.machine()
    b.host.behave = () => ({ ms: 10, exitCode: 1 })
    const { script } = scriptOrder().work
    const work = { ...(script && { script }) }
    const order = await b.apply(state(whole), { rollback: 'All', work })
    expect(order).toMatchObject({ state: 'Failed', rolledBack: true })
    expect(b.machine()).toEqual(before)
  })
})

describe('cut off at every disk operation', () => {
  const first = state({ ...whole, kernelArguments: { add: ['a=1'] } })

  test.each([
    { power: false, rpmOstree: false },
    { power: true, rpmOstree: false },
    { power: true, rpmOstree: true },
  ])(
    'ends as wanted, and removal still leaves no trace (power loss: $power, kernel arguments go with it: $rpmOstree)',
    async ({ power, rpmOstree }) => {
      const counting = await bench()
      const found = counting.machine()
      const start = counting.disk.operations
      counting.start()
      await counting.apply(first)
      const applied = counting.machine()
      const total = counting.disk.operations - start
      expect(total).toBeGreaterThan(50)
      for (let cut = 0; cut < total; cut += power ? 3 : 2) {
        const b = await bench(cut)
        const { id } = b.want(first)
        await b.startAndDieAfter(cut, () => b.order?.id === id && b.order.finishedAt !== undefined)
        if (power) {
          b.host.losePower(() => b.random.next())
          b.clock.loseTimers(30_000)
          // What a finished order left is no longer its business.
          if (rpmOstree && !b.files().some((path) => path.endsWith('/completed'))) b.loseKernelArguments()
        }
        b.restart()
        await b.clock.until(() => b.order?.id === id && b.order.finishedAt !== undefined)
        expect(b.order, `cut at ${cut}`).toMatchObject({ state: 'Succeeded' })
        expect(withoutRecord(b.machine()), `cut at ${cut}`).toEqual(withoutRecord(applied))
        await b.apply(noState)
        expect(b.machine(), `cut at ${cut}`).toEqual(found)
      }
    },
    60_000,
  )
})

function withoutRecord(machine: object): object {
  return { ...machine, record: undefined }
}
