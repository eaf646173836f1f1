import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Work } from '../../../api/work.ts'
import { whyNotThis } from './image-programs.ts'
import { osImageDriver } from './osimage-driver.ts'

const image = `${repository}:stable`

describe('the kubelet of an image', () => {
  it.each<[string, Work['kubernetes'], string | undefined, string | undefined, string | undefined]>([
    ['that is the wanted one', { version: '1.36.3' }, 'v1.36.3', 'v1.35.4', undefined],
    ['that is another patch', { version: 'v1.36.3' }, 'v1.36.2', 'v1.35.4', 'brings kubelet v1.36.2'],
    ['that is the old one', { version: 'v1.36.3' }, 'v1.35.4', 'v1.35.4', 'the update names v1.36.3'],
    ['that is not there, but wanted', { version: 'v1.36.3' }, undefined, 'v1.35.4', 'has no kubelet'],
    ['of the same minor version', undefined, 'v1.35.9', 'v1.35.4', undefined],
    ['of an older minor version', undefined, 'v1.34.9', 'v1.35.4', undefined],
    ['of a newer minor version', undefined, 'v1.36.0', 'v1.35.4', 'name kubernetes.version v1.36.0'],
    ['that is not there', undefined, undefined, 'v1.35.4', undefined],
    ['on a host that has none', undefined, 'v1.36.0', undefined, undefined],
  ])('%s', (_, kubernetes, brought, present, says) => {
    const why = whyNotThis({ work: { os: { image }, ...(kubernetes && { kubernetes }) } }, brought, present)
    if (says === undefined) expect(why).toBeUndefined()
    else expect(why).toContain(says)
  })
})

describe('an image with another Kubernetes', () => {
  const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]

  function machine(inImage: string, onHost: string, published = next) {
    const bench = new AgentBench()
    bench.drivers = [osImageDriver({ clock: bench.clock, signatures: keyPairSignatures })]
    const tools = new PretendImageTools(bench, 'rpm-ostree', old)
    tools.publish('stable', published)
    tools.override = (argv) => {
      if (argv[1] !== '--version') return undefined
      const version = argv[0] === 'kubelet' ? onHost : inImage
      return { exitCode: 0, stdout: `Kubernetes ${version}\n`, stderr: '' }
    }
    bench.cluster.place(scriptOrder({ work: { os: { image } }, rollback: 'Image' }))
    bench.start()
    return { bench, tools }
  }

  it('is not booted, and no later reboot starts it', async () => {
    const { bench, tools } = machine('v1.36.3', 'v1.35.4')
    await tools.until('Failed')
    expect(bench.order?.reason).toMatchObject({
      code: 'ImageKubernetesOther',
      message: expect.stringContaining('name kubernetes.version v1.36.3'),
    })
    expect(bench.host.reboots).toBe(0)
    expect(tools.staged).toBeUndefined()
    expect(tools.booted.digest).toBe(old.digest)
  })

  it('is not looked at where it is booted already', async () => {
    const { bench, tools } = machine('v1.36.3', 'v1.35.4', old)
    await tools.until('Succeeded')
    expect(bench.order?.steps.filter(({ attempts }) => attempts > 0)).toEqual([])
  })

  it('of the same minor version is booted', async () => {
    const { tools } = machine('v1.35.9', 'v1.35.4')
    await tools.until('Succeeded')
    expect(tools.booted.digest).toBe(next.digest)
  })
})
