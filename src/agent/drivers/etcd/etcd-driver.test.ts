import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { RecordedEtcd } from '../../../../test/agent/recorded-etcd.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { findEtcd } from '../../control-plane/find-etcd.ts'
import { notePeers } from '../../control-plane/peers.ts'
import type { ActStep, JobStep } from '../driver.ts'
import { etcdDriver } from './etcd-driver.ts'
import { readEtcdSettings } from './host-service.ts'

const order = kubernetesOrder({ work: { kubernetes: { version: 'v1.36.3', components: ['etcd'] } } })
const show =
  'LoadState=loaded\nEnvironmentFiles=/etc/default/etcd (ignore_errors=yes)\nEnvironment=\nExecStart={ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd ; ignore_errors=no ; pid=1 }\n'
const host = { 'systemctl show': show, 'etcd --version': 'etcd Version: 3.6.8\nGit SHA: x\n', sleep: '' }
const own = 'http://127.0.0.1:23791'

async function bench(answers: Parameters<StepBench['answers']>[0] = {}) {
  const made = new StepBench(order)
  await made.put('/etc/default/etcd', `ETCD_ADVERTISE_CLIENT_URLS=${own}\nETCD_TRUSTED_CA_FILE=/ca.pem\n`)
  made.answers({ ...answers, ...host, ...answers })
  const etcd = new RecordedEtcd([
    { id: '13668033151171901709', name: 'a', url: own },
    { id: '185828541645115251', name: 'b', url: 'http://127.0.0.1:23792' },
    { id: '3990370604368066554', name: 'c', url: 'http://127.0.0.1:23793' },
  ])
  await notePeers(made.context, etcd, made.signal)
  const [check, , restart] = etcdDriver(etcd).steps(order) as readonly [ActStep, JobStep, JobStep]
  const answersNow = (recorded: Parameters<StepBench['answers']>[0]) => made.answers(recorded)
  const putMore = (path: string, content: string) => made.put(path, content)
  return { ...made, answersNow, putMore, context: made.context, signal: made.signal, etcd, check, restart }
}

describe('the members of etcd', () => {
  it('are found by the service’s own settings', async () => {
    const { context, signal } = await bench()
    expect(await findEtcd(context.host, signal)).toEqual({ own, endpoints: [own], ca: '/ca.pem' })
  })

  it('without an address of the service are a reason', async () => {
    const made = new StepBench(order)
    made.answers({ ...host, 'systemctl show': 'LoadState=loaded\nExecStart=\n', apt: '', dpkg: '' })
    expect(await findEtcd(made.host, made.signal)).toBeUndefined()
  })

  it('one of which is down keep this one from being touched', async () => {
    const { context, signal, etcd, check, restart } = await bench()
    etcd.down.add('c')
    expect(await check.holds?.(context, signal)).toBe(false)
    await expect(check.act(context, signal)).rejects.toMatchObject({ code: 'EtcdUnhealthy' })
    await expect(restart.argv(context, signal)).rejects.toThrow('member c of etcd')
  })

  it('are waited for', async () => {
    const { context, signal, etcd, check } = await bench()
    etcd.down.add('c')
    let asked = 0
    etcd.onAsked = () => {
      if (++asked > 20) etcd.down.clear()
    }
    await check.act(context, signal)
    expect(etcd.down.size).toBe(0)
  })

  it('let this one be restarted though it is down itself, as after a power loss', async () => {
    const { context, signal, etcd, restart } = await bench()
    etcd.down.add('a')
    expect((await restart.argv(context, signal)).at(-1)).toBe('etcd.service')
  })
})

describe('the restart', () => {
  it.each<[string, (etcd: RecordedEtcd) => void, string | undefined]>([
    ['all there', () => undefined, undefined],
    [
      'the old one runs',
      (etcd) => {
        etcd.version = '3.6.5'
      },
      'etcd runs 3.6.5, installed is 3.6.8',
    ],
    ['it does not answer', (etcd) => etcd.down.add('a'), 'etcd cannot be asked'],
    ['another is away', (etcd) => etcd.down.add('b'), 'member b of etcd is not healthy'],
  ])('%s', async (_, change, missing) => {
    const { context, signal, etcd, restart } = await bench()
    change(etcd)
    const found = await restart.missing?.(context, signal)
    if (missing === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(missing)
  })
})

describe('a systemd that does not answer just now', () => {
  const booted = '/run/systemd/system'
  const mute = { 'systemctl show': { exitCode: 1, stderr: 'Failed to connect to bus: Connection refused\n' } }

  it('is no etcd without settings', async () => {
    const made = new StepBench(order)
    await made.put(booted, '')
    made.answers(mute)
    await expect(readEtcdSettings(made.host, made.signal)).rejects.toMatchObject({ code: 'CannotReach' })
  })

  it('is no host without etcd when it is to be upgraded', async () => {
    const made = new StepBench(order)
    await made.put(booted, '')
    made.answers(mute)
    const staged = etcdDriver(new RecordedEtcd([])).stage?.(made.context, made.signal)
    await expect(staged).rejects.toMatchObject({ code: 'StagingFailed', message: expect.stringContaining('bus') })
  })

  it('lets no member be touched', async () => {
    const { context, signal, check, answersNow, putMore } = await bench()
    await putMore(booted, '')
    answersNow(mute)
    await expect(check.holds?.(context, signal)).rejects.toThrow('Connection refused')
  })
})

it('an etcd in a static pod is left to kubeadm', async () => {
  const made = new StepBench(order)
  made.answers({})
  await made.put('/etc/kubernetes/manifests/etcd.yaml', 'kind: Pod\n')
  const driver = etcdDriver(new RecordedEtcd([]))
  expect(await driver.stage?.(made.context, made.signal)).toBeUndefined()
  for (const step of driver.steps(order)) expect(await step.holds?.(made.context, made.signal)).toBe(true)
  expect(made.ran).toEqual([])
})
