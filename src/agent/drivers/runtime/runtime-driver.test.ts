import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { recordedRuntimes } from '../../../../test/samples/recorded-output.ts'
import type { JobStep } from '../driver.ts'
import { runtimeDriver } from './runtime-driver.ts'

const order = kubernetesOrder({ work: { kubernetes: { version: 'v1.36.3', components: ['containerd'] } } })
const restart = runtimeDriver.steps(order).at(-1) as JobStep
// From containerd’s and crictl’s own programs.
const containerd = (version: string) => `containerd github.com/containerd/containerd/v2 ${version} abc\n`
const images = JSON.stringify({ images: [] })
const there = {
  'property=LoadState': 'LoadState=loaded\n',
  'property=MainPID': 'MainPID=7\n',
  'is-active': 'active\n',
  'containerd --version': containerd('v2.2.9'),
  '/proc/7/exe --version': containerd('v2.2.9'),
  'crictl --version': 'crictl version v1.36.0\n',
  images,
  sleep: '',
}

async function bench(answers: Parameters<StepBench['answers']>[0], endpoint: string): Promise<StepBench> {
  const made = new StepBench(order)
  await made.put(
    '/var/lib/kubelet/kubeadm-flags.env',
    `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=${endpoint}"\n`,
  )
  made.answers(answers)
  return made
}

describe('the runtime is as it should be', () => {
  it.each<[string, Parameters<StepBench['answers']>[0], string | undefined]>([
    ['up with what is installed', {}, undefined],
    ['the old process', { '/proc/7/exe --version': containerd('v2.2.8') }, 'v2.2.8 abc”, installed is'],
    [
      'another package of the same version',
      { 'readlink /proc/7/exe': '/usr/bin/containerd (deleted)\n' },
      'containerd.service still runs the program that was replaced',
    ],
    ['down', { 'is-active containerd': { exitCode: 3, stdout: 'failed\n' } }, 'containerd.service is failed'],
    ['up and deaf', { 'images --output': { exitCode: 1, stderr: 'connection refused' } }, 'does not answer'],
    [
      'the kubelet fell over',
      { 'is-active kubelet': { exitCode: 3, stdout: 'activating\n' } },
      'kubelet.service is activating',
    ],
    ['a host without a kubelet', { 'is-active kubelet': { exitCode: 3, stdout: 'inactive\n' } }, undefined],
  ])('%s', async (_, part, missing) => {
    const made = await bench({ ...part, ...there, ...part }, 'unix:///run/containerd/containerd.sock')
    const found = await restart.missing?.(made.context, made.signal)
    if (missing === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(missing)
    expect(await restart.holds?.(made.context, made.signal)).toBe(missing === undefined)
  })
})

describe('runtimes that were not at hand', () => {
  it.each([
    ['cri-o', 'unix:///run/crio/crio.sock'],
    ['iSulad', 'unix:///run/isulad.sock'],
  ] as const)('%s has to run what is installed', async (name, endpoint) => {
    const [older, newer] = recordedRuntimes[name]
    const answers = { ...there, [newer.argv.join(' ')]: newer.output }
    const old = await bench({ ...answers, '/proc/7/exe --version': older.output }, endpoint)
    expect(await restart.holds?.(old.context, old.signal)).toBe(false)
    const restarted = await bench({ ...answers, '/proc/7/exe --version': newer.output }, endpoint)
    expect(await restart.holds?.(restarted.context, restarted.signal)).toBe(true)
  })
})

describe('what is restarted', () => {
  it.each([
    ['unix:///run/containerd/containerd.sock', ['containerd.service']],
    ['unix:///run/crio/crio.sock', ['crio.service']],
    ['unix:///run/isulad.sock', ['isulad.service']],
  ])('behind %s', async (endpoint, units) => {
    const made = await bench(there, endpoint)
    expect((await restart.argv(made.context, made.signal)).slice(6)).toEqual(units)
  })

  it('docker’s own containerd and adapter only where they are units of their own', async () => {
    const made = await bench(
      { 'LoadState cri-docker': 'LoadState=not-found\n', ...there },
      'unix:///run/cri-dockerd.sock',
    )
    expect((await restart.argv(made.context, made.signal)).slice(6)).toEqual(['containerd.service', 'docker.service'])
  })
})

describe('docker’s live-restore is looked at before the node is drained', () => {
  it.each([
    ['true\n', []],
    ['false\n', [expect.stringContaining('live-restore is off')]],
  ])('it says %j', async (said, warnings) => {
    const dpkg = 'docker.io\t20.10.24+dfsg1-1+deb12u1\tamd64\tinstall\tok\tinstalled\n'
    const answers = { 'docker info': said, 'dpkg-query': dpkg, 'print-architecture': 'amd64\n' }
    const made = await bench(answers, 'unix:///run/cri-dockerd.sock')
    for (const path of ['/usr/bin/apt-get', '/var/lib/dpkg/status']) await made.put(path, '')
    // Without an index nothing can be staged; that is not what this is about.
    await expect(runtimeDriver.stage?.(made.context, made.signal)).rejects.toThrow()
    expect(made.warnings).toEqual(warnings)
  })
})

it('an unknown runtime is a reason before anything is touched', async () => {
  const made = await bench({}, 'unix:///run/k3s/containerd/containerd.sock')
  expect((await runtimeDriver.stage?.(made.context, made.signal))?.code).toBe('RuntimeUnknown')
})
