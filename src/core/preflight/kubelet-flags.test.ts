import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { kubeletFlags } from './kubelet-flags.ts'

const hosts = { w1: { facts: { kubeletFlags: ['pod-infra-container-image'] } }, w2: {} }

describe('the check KubeletFlags', () => {
  it.each<[string, ViewTraits, string | RegExp | undefined]>([
    ['none', {}, 'Passed: no host gives its kubelet a flag that v1.36.3 does not know'],
    [
      'one the target does not know',
      { hosts },
      /^Failed: v1\.36\.3 does not know .*--pod-infra-container-image \(w1\)/,
    ],
    ['one the target still knows', { hosts, spec: { kubernetes: { version: 'v1.34.9' } } }, /^Passed: /],
    ['no Kubernetes work', { hosts, spec: justReboot }, undefined],
  ])('%s', (_name, traits, answer) => {
    const said = answerOf(kubeletFlags, traits)
    if (answer instanceof RegExp) expect(said).toMatch(answer)
    else expect(said).toBe(answer)
  })
})
