import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { agents } from './agents.ts'

describe('the check Agents', () => {
  it.each<[string, ViewTraits, string]>([
    ['all are there', {}, 'Passed: 3 nodes asked'],
    ['one is missing', { hosts: { w1: { silent: true } } }, 'Failed: no agent has reported from w1'],
    [
      'of a dead node is not waited for',
      { hosts: { w1: { silent: true, ready: 'Unknown' } } },
      'Passed: 1 nodes asked',
    ],
    [
      'one cannot do the work',
      { hosts: { w1: { agent: { drivers: ['kubeadm'] } } }, spec: justReboot },
      'Failed: the agents on w1 have no driver "reboot"',
    ],
    [
      'one is older than the operator',
      { hosts: { w1: { agent: { version: '0.1.0-rc.1' } }, w2: {} }, operatorVersion: '0.1.0' },
      'Failed: the agents on w1 are older (0.1.0-rc.1) than the operator (0.1.0)',
    ],
    ['a newer one is fine', { operatorVersion: '0.0.9' }, 'Passed: 3 nodes asked'],
    [
      'skipped',
      { hosts: { w1: { silent: true } }, spec: { reboot: 'Never', preflight: { skip: ['Agents'] } } },
      'Skipped: skipped; it would have said Failed: no agent has reported from w1',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(agents, traits)).toBe(answer))
})
