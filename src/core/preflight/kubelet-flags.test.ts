import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { kubeletFlags } from './kubelet-flags.ts'

const hosts = { w1: { facts: { kubeletFlags: ['pod-infra-container-image'] } }, w2: {} }

const silent =
  'Unknown: w1 does not say which flags a person gives its kubelet; the log of the agent there says why, unless it is an older one: bring it up to date'

describe('the check KubeletFlags', () => {
  it.each<[string, ViewTraits, string | RegExp | undefined]>([
    ['none', {}, 'Passed: no host gives its kubelet a flag that v1.36.3 does not know'],
    [
      'one the target does not know',
      { hosts },
      /^Failed: v1\.36\.3 does not know .*--pod-infra-container-image \(w1\)/,
    ],
    ['one the target still knows', { hosts, spec: { kubernetes: { version: 'v1.34.9' } } }, /^Passed: /],
    ['files that could not be read', { hosts: { w1: { facts: { kubeletFlags: undefined } }, w2: {} } }, silent],
    ['a host that is Ready and has no agent', { hosts: { w1: { silent: true }, w2: {} } }, silent],
    [
      'one that is away: it is asked before its turn',
      { hosts: { w1: { silent: true, ready: 'Unknown' } } },
      /^Passed: /,
    ],
    ['no Kubernetes work', { hosts, spec: justReboot }, undefined],
  ])('%s', (_name, traits, answer) => {
    const said = answerOf(kubeletFlags, traits)
    if (answer instanceof RegExp) expect(said).toMatch(answer)
    else expect(said).toBe(answer)
  })
})
