import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { RecordedEtcd } from '../../../../test/agent/recorded-etcd.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import { pretendManifests } from '../../../sim/pretend-control-plane.ts'
import { etcdObstacle } from '../../control-plane/step-obstacle.ts'
import type { ActStep } from '../driver.ts'
import { controlPlaneDriver } from './control-plane-driver.ts'

const order = kubernetesOrder({ role: 'ControlPlane' })
const members = ['cp1', 'cp2', 'cp3'].map((name, index) => ({
  id: String(index + 1),
  name,
  url: `http://${name}:2379`,
}))

async function bench(count = 3) {
  const made = new StepBench(order)
  for (const [path, content] of Object.entries(pretendManifests('cp1'))) await made.put(path, content)
  made.answers({ sleep: '' })
  const etcd = new RecordedEtcd(members.slice(0, count))
  const [move] = controlPlaneDriver(etcd).steps(order) as readonly [ActStep]
  return { made, context: made.context, signal: made.signal, warnings: made.warnings, etcd, move }
}

describe('leadership of etcd', () => {
  it('goes to a healthy member before the host is disturbed', async () => {
    const { context, signal, etcd, move } = await bench()
    etcd.down.add('cp2')
    expect(await move.holds?.(context, signal)).toBe(false)
    await move.act(context, signal)
    expect(etcd.leader).toBe('3')
    expect(await move.missing?.(context, signal)).toBeUndefined()
  })

  it.each([
    ['another leads', 3, (etcd: RecordedEtcd) => void Object.assign(etcd, { leader: '2' })],
    ['there is only this member', 1, () => undefined],
  ])('stays where it is when %s', async (_, count, change) => {
    const { context, signal, etcd, move } = await bench(count)
    change(etcd)
    expect(await move.holds?.(context, signal)).toBe(true)
  })

  it('is not passed over because this member does not answer at once', async () => {
    const { context, signal, etcd, move } = await bench()
    etcd.down.add('cp1')
    expect(await move.holds?.(context, signal)).toBe(false)
    const run = context.host.run.bind(context.host)
    context.host.run = (command, stop) => {
      if (command.argv[0] === 'sleep') etcd.down.clear()
      return run(command, stop)
    }
    await move.act(context, signal)
    expect(etcd.leader).not.toBe('1')
  })

  it('is passed on by a member that answers on its own host alone', async () => {
    const { context, signal, etcd, move } = await bench()
    etcd.hidden.add('cp1')
    expect(await move.holds?.(context, signal)).toBe(false)
    await move.act(context, signal)
    expect(etcd.leader).toBe('2')
  })

  it('is seen to be passed on by an answer, not by silence', async () => {
    const { context, signal, etcd, move } = await bench()
    etcd.down.add('cp1')
    const run = context.host.run.bind(context.host)
    context.host.run = (command, stop) => {
      if (command.argv[0] === 'sleep') etcd.down.clear()
      return run(command, stop)
    }
    expect(await move.missing?.(context, signal)).toContain('still leads etcd')
  })

  it('is passed on by an etcd.service whose systemd does not answer at once', async () => {
    const { made, context, signal, etcd, move, warnings } = await bench()
    await context.host.files.remove('/etc/kubernetes/manifests/etcd.yaml')
    await made.put('/run/systemd/system', '')
    await made.put('/etc/default/etcd', 'ETCD_ADVERTISE_CLIENT_URLS=http://cp1:2379\n')
    let answers = false
    const told = 'LoadState=loaded\nEnvironmentFiles=/etc/default/etcd (ignore_errors=yes)\n'
    made.answers({
      sleep: '',
      systemctl: () => (answers ? told : { exitCode: 1, stderr: 'Failed to get properties: Connection reset by peer' }),
    })
    expect(await move.holds?.(context, signal)).toBe(false)
    await move.act(context, signal)
    expect(warnings).toEqual([expect.stringContaining('did not hand over')])
    answers = true
    await move.act(context, signal)
    expect(etcd.leader).toBe('2')
  })

  it('is left where this member stays down, with a warning', async () => {
    const { context, signal, etcd, move, warnings } = await bench()
    etcd.down.add('cp1')
    await move.act(context, signal)
    expect(etcd.asked).not.toContain('/v3/maintenance/transfer-leadership')
    expect(warnings).toEqual([expect.stringContaining('did not hand over')])
    expect(await move.missing?.(context, signal)).toBeUndefined()
  })

  it('has nobody to go to', async () => {
    const { context, signal, etcd, move } = await bench()
    for (const name of ['cp2', 'cp3']) etcd.down.add(name)
    await expect(move.act(context, signal)).rejects.toMatchObject({ code: 'EtcdUnhealthy' })
    expect(etcd.asked).not.toContain('/v3/maintenance/transfer-leadership')
  })

  it.each<[string, Partial<Order>, boolean]>([
    ['a worker', { role: 'Worker' }, false],
    ['files and settings alone', { work: {} }, false],
    ['no reboot', { work: { reboot: 'Never' } }, false],
    ['a reboot', { work: { reboot: 'IfRequired' } }, true],
    ['an image', { work: { os: { image: 'registry.example/os:1' } } }, true],
    ['a version', {}, true],
  ])('concerns %s: %o', (_, part, concerned) => {
    expect(controlPlaneDriver(new RecordedEtcd([])).concerns({ ...order, ...part })).toBe(concerned)
  })
})

describe('right before a step that takes this host’s member away', () => {
  const disruptive: ActStep = { name: 'reboot', disruptive: true, attempts: 1, act: () => Promise.resolve() }

  it.each<[string, Partial<ActStep>, (etcd: RecordedEtcd) => void, string | undefined]>([
    ['all are well', {}, () => undefined, undefined],
    ['another is down', {}, (etcd) => etcd.down.add('cp3'), 'EtcdUnhealthy'],
    [
      'another is down, and the step takes nothing away',
      { disruptive: false },
      (etcd) => etcd.down.add('cp3'),
      undefined,
    ],
    [
      'another is down, and the step stops the control plane only',
      { disruptive: false, stopsControlPlane: true },
      (etcd) => etcd.down.add('cp3'),
      'EtcdUnhealthy',
    ],
    ['its own is down already', {}, (etcd) => etcd.down.add('cp1'), undefined],
    [
      'its own and another are down',
      {},
      (etcd) => {
        etcd.down.add('cp1').add('cp2')
      },
      'EtcdUnhealthy',
    ],
  ])('%s', async (_, part, change, code) => {
    const { context, signal, etcd } = await bench()
    await controlPlaneDriver(etcd).stage?.(context, signal)
    change(etcd)
    const reason = await etcdObstacle(etcd).look({ ...disruptive, ...part }, order, context, signal)
    expect(reason?.code).toBe(code)
  })

  it('a member that is down and was never asked for the others keeps it from starting', async () => {
    const { context, signal, etcd } = await bench()
    etcd.down.add('cp1')
    expect(await etcdObstacle(etcd).look(disruptive, order, context, signal)).toMatchObject({ code: 'EtcdUnknown' })
    await expect(controlPlaneDriver(etcd).stage?.(context, signal)).rejects.toMatchObject({ code: 'StagingFailed' })
  })

  it('a worker asks nobody', async () => {
    const { context, signal, etcd } = await bench()
    await etcdObstacle(etcd).look(disruptive, { ...order, role: 'Worker' }, context, signal)
    expect(etcd.asked).toEqual([])
  })
})
