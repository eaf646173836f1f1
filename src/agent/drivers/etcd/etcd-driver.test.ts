import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { ActStep, JobStep } from '../driver.ts'
import { etcdDriver } from './etcd-driver.ts'
import { findMember } from './find-member.ts'

const order = kubernetesOrder({ work: { kubernetes: { version: 'v1.36.3', components: ['etcd'] } } })
const [check, , restart] = etcdDriver.steps(order) as readonly [ActStep, JobStep, JobStep]
const [own, second, third] = ['http://127.0.0.1:23791', 'http://127.0.0.1:23792', 'http://127.0.0.1:23793']

// Recorded from etcdctl 3.6.8 with three members, the third of them ended.
const list = `{"header":{"cluster_id":17300438976491492131},"members":[{"ID":185828541645115251,"name":"b","peerURLs":["http://127.0.0.1:23802"],"clientURLs":["${second}"]},{"ID":3990370604368066554,"name":"c","peerURLs":["http://127.0.0.1:23803"],"clientURLs":["${third}"]},{"ID":13668033151171901709,"name":"a","peerURLs":["http://127.0.0.1:23801"],"clientURLs":["${own}"]}]}`
const status = (version: string) =>
  `[{"Endpoint":"${own}","Status":{"header":{"revision":1},"version":"${version}","dbSize":20480,"storageVersion":"3.6.0"}}]`
const healthy = (...endpoints: readonly (string | undefined)[]) =>
  JSON.stringify(endpoints.map((endpoint) => ({ endpoint, health: true, took: '3.165025ms' })))
const oneDown = {
  exitCode: 1,
  stdout: `[{"endpoint":"${second}","health":true,"took":"3ms"},{"endpoint":"${own}","health":true,"took":"5ms"},{"endpoint":"${third}","health":false,"took":"3.000283885s","error":"context deadline exceeded"}]`,
  stderr: 'Error: unhealthy cluster\n',
}
const show =
  'EnvironmentFiles=/etc/default/etcd (ignore_errors=yes)\nEnvironment=\nExecStart={ path=/usr/bin/etcd ; argv[]=/usr/bin/etcd ; ignore_errors=no ; pid=1 }\n'

const all = {
  'endpoint health': healthy(own, second, third),
  'endpoint status': status('3.6.8'),
  'etcd --version': 'etcd Version: 3.6.8\nGit SHA: x\n',
  sleep: '',
}

async function bench(answers: Parameters<StepBench['answers']>[0]): Promise<StepBench> {
  const made = new StepBench(order)
  await made.context.notes.write('etcd-member', { own, others: [second, third], options: [] })
  made.answers(answers)
  return made
}

describe('the members of etcd', () => {
  it('are found by the service’s own settings', async () => {
    const made = new StepBench(order)
    await made.put('/etc/default/etcd', `ETCD_ADVERTISE_CLIENT_URLS=${own}\nETCD_TRUSTED_CA_FILE=/ca.pem\n`)
    made.answers({ 'etcdctl version': 'etcdctl version: 3.6.8\n', 'systemctl show': show, 'member list': list })
    const options = ['--cacert=/ca.pem']
    expect(await findMember(made.host, made.signal)).toEqual({ own, others: [second, third], options })
  })

  it.each([
    ['no etcdctl', {}, 'ToolMissing'],
    ['no address', { 'etcdctl version': '', 'systemctl show': 'ExecStart=\n' }, 'EtcdUnhealthy'],
  ])('%s is a reason', async (_, answers, code) => {
    const made = new StepBench(order)
    made.answers(answers)
    expect(await findMember(made.host, made.signal)).toMatchObject({ code })
  })

  it('one of which is down keep this one from being touched', async () => {
    const made = await bench({ ...all, 'endpoint health': oneDown })
    await expect(check.act(made.context, made.signal)).rejects.toMatchObject({ code: 'EtcdUnhealthy' })
    await expect(restart.argv(made.context, made.signal)).rejects.toThrow(third)
  })

  it('are waited for', async () => {
    let asked = 0
    const made = await bench({ ...all, 'endpoint health': () => (++asked < 3 ? oneDown : healthy(second, third)) })
    await check.act(made.context, made.signal)
    expect(asked).toBe(3)
  })

  it('let this one be restarted though it is down itself, as after a power loss', async () => {
    const made = await bench({ ...all, 'endpoint health': healthy(second, third) })
    expect((await restart.argv(made.context, made.signal)).at(-1)).toBe('etcd.service')
  })
})

describe('the restart', () => {
  it.each<[string, Parameters<StepBench['answers']>[0], string | undefined]>([
    ['all there', {}, undefined],
    ['the old one runs', { 'endpoint status': status('3.6.5') }, 'etcd runs 3.6.5, installed is 3.6.8'],
    ['not healthy', { 'endpoint health': healthy(second, third) }, `${own} is not healthy`],
    ['no answer at all', { 'endpoint health': { exitCode: 127, stderr: 'not found' } }, 'etcdctl does not say'],
  ])('%s', async (_, part, missing) => {
    const made = await bench({ ...part, ...all, ...part })
    const found = await restart.missing?.(made.context, made.signal)
    if (missing === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(missing)
  })
})

it('an etcd in a static pod is left to kubeadm', async () => {
  const made = new StepBench(order)
  made.answers({})
  await made.put('/etc/kubernetes/manifests/etcd.yaml', 'kind: Pod\n')
  expect(await etcdDriver.stage?.(made.context, made.signal)).toBeUndefined()
  for (const step of etcdDriver.steps(order)) expect(await step.holds?.(made.context, made.signal)).toBe(true)
  expect(made.ran).toEqual([])
})
