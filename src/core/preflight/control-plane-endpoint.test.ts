import { describe, expect, it } from 'vitest'
import { answerOf, type HostTraits, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { controlPlaneEndpoint } from './control-plane-endpoint.ts'

const shared: HostTraits = { facts: { kubeletServer: { url: 'https://lb:6443', own: false } } }
const own: HostTraits = { facts: { kubeletServer: { url: 'https://10.0.0.1:6443', own: true } } }

describe('the check ControlPlaneEndpoint', () => {
  it.each<[string, ViewTraits, RegExp | undefined]>([
    ['each its own', { hosts: { c1: own, c2: own } }, /^Passed: /],
    [
      'one the load balancer',
      { hosts: { c1: shared, c2: own } },
      /^Warning: the kubelets of c1 \(https:\/\/lb:6443\) /,
    ],
    ['one that is not touched', { hosts: { c1: { ...shared, left: true }, c2: own } }, /^Passed: /],
    ['there is but one', { hosts: { c1: shared, w1: {} } }, undefined],
    ['no Kubernetes work', { hosts: { c1: shared, c2: own }, spec: justReboot }, undefined],
  ])('%s', (_name, traits, answer) => {
    const said = answerOf(controlPlaneEndpoint, traits)
    if (answer) expect(said).toMatch(answer)
    else expect(said).toBeUndefined()
  })
})
