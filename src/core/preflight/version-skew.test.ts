import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { versionSkew } from './version-skew.ts'

describe('the check VersionSkew', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['none', {}, 'Passed: API servers run v1.35.4'],
    ['no Kubernetes work', { spec: justReboot }, undefined],
    [
      'API servers one minor apart',
      { hosts: { c1: { kubelet: 'v1.36.1' }, c2: {} } },
      'Passed: API servers run v1.35.4',
    ],
    [
      'API servers two minors apart',
      { hosts: { c1: { kubelet: 'v1.36.1' }, c2: { kubelet: 'v1.34.9' } } },
      'Failed: API servers run v1.34.9 and v1.36.1: more than one minor version apart; upgrade the older ones first',
    ],
    [
      'a kubelet newer than its API server',
      { hosts: { c1: {}, w1: { kubelet: 'v1.36.0' } } },
      'Failed: the kubelets of w1 are newer than the API server (v1.35.4); upgrade the control plane first',
    ],
    [
      'a newer patch of a kubelet is none',
      { hosts: { c1: {}, w1: { kubelet: 'v1.35.9' } } },
      'Passed: API servers run v1.35.4',
    ],
    [
      'a kubelet three minors older is left behind too far',
      { hosts: { c1: {}, w1: { kubelet: 'v1.32.9', left: true } } },
      'Failed: the kubelets of w1 would be too old for the API server (v1.36.3): at most three minor versions; upgrade them first',
    ],
    [
      'it is not, where the control plane stays',
      { hosts: { c1: { left: true }, w1: { kubelet: 'v1.32.9', left: true }, w2: {} } },
      'Passed: API servers run v1.35.4',
    ],
    [
      'before v1.25 two were the most',
      {
        hosts: {
          c1: { kubelet: 'v1.26.0', left: true },
          w1: { kubelet: 'v1.23.9', left: true },
          w2: { kubelet: 'v1.25.0' },
        },
        spec: { kubernetes: { version: 'v1.26.0' } },
      },
      'Failed: the kubelets of w1 would be too old for the API server (v1.26.0): at most three minor versions; upgrade them first',
    ],
    [
      'an API server nobody told of, beside one that is told',
      { hosts: { c1: {}, c2: { silent: true }, c3: { facts: { apiServer: undefined } }, w1: {} } },
      'Unknown: what the API servers of c2, c3 run is not told; let their agents report, or skip VersionSkew where these have none',
    ],
    [
      'an API server nobody told of that would be left behind, by its kubelet',
      { hosts: { c1: { kubelet: 'v1.35.4' }, c2: { silent: true, left: true, kubelet: 'v1.34.9' } } },
      'Failed: the API servers of c2 would be more than one minor version behind v1.36.3; let them go along',
    ],
    [
      'no API server that says what it runs',
      { hosts: { w1: {} }, serverVersion: 'unknown' },
      'Unknown: no API server names its version',
    ],
    [
      'none is reported: the server that answered',
      { hosts: { c1: { facts: { apiServer: undefined } }, w1: {} } },
      'Passed: API servers run v1.35.4',
    ],
    ['only the server that answered is known', { hosts: { w1: {} } }, 'Passed: API servers run v1.35.4'],
  ])('%s', (_name, traits, answer) => expect(answerOf(versionSkew, traits)).toBe(answer))
})
