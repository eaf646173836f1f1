import { describe, expect, it } from 'vitest'
import { answerOf, unseen, type ViewTraits } from '../../../test/samples/check-views.ts'
import type { Webhook } from '../../api/kube-admission.ts'
import type { OutsideWebhook, ServedWebhook } from './sights.ts'
import { guardedBy, isNarrowed } from './webhook-guards.ts'
import { webhooks } from './webhooks.ts'

const asked = { name: 'gate', what: 'evicting pods', narrowed: false }
const served = (part: Partial<ServedWebhook>): ServedWebhook => ({
  ...{ ...asked, service: 'service a/b', ready: 2, nodes: ['w1', 'w2'] },
  ...part,
})
const outside: OutsideWebhook = { ...asked, name: 'far', what: 'deleting pods', url: 'https://guard.example/ask' }
const seen = (...sights: (ServedWebhook | OutsideWebhook)[]): ViewTraits => ({ sights: { webhooks: { seen: sights } } })
const found = (part: Partial<ServedWebhook>) => seen(served(part))
const aboutOutside =
  'far (asked about deleting pods) is behind https://guard.example/ask: whether anybody answers there cannot be seen from here, and what it is asked about is refused if nobody does; make sure of it'

describe('the check Webhooks', () => {
  it.each<[string, ViewTraits, string | RegExp]>([
    ['none', {}, 'Passed: 0 admission webhooks of this kind answer'],
    ['one that answers', found({}), 'Passed: 1 admission webhooks of this kind answer'],
    [
      'one nobody answers for',
      found({ ready: 0, nodes: [] }),
      'Failed: gate (asked about evicting pods): service a/b has no ready endpoint: what it is asked about is refused; bring it back',
    ],
    [
      'one nobody answers for, that looks at some objects only',
      found({ ready: 0, nodes: [], narrowed: true }),
      'Warning: gate (asked about evicting pods): service a/b has no ready endpoint: some requests may be refused',
    ],
    [
      'one that runs on a node of the update only',
      found({ nodes: ['w1'] }),
      'Warning: gate (asked about evicting pods): service a/b runs on w1 only: while that node is drained requests may be refused; run a second one elsewhere',
    ],
    [
      'on a node that is not touched',
      { hosts: { w1: { left: true }, w2: {} }, ...found({ nodes: ['w1'] }) },
      'Passed: 1 admission webhooks of this kind answer',
    ],
    ['one behind an address outside', seen(outside), `Warning: ${aboutOutside}`],
    [
      'one behind an address outside, and one that runs on a node of the update only',
      seen(outside, served({ nodes: ['w1'] })),
      /^Warning: gate .* runs on w1 only: .*; far .* is behind https:\/\/guard\.example\/ask: /,
    ],
    [
      'one behind an address outside, and one nobody answers for',
      seen(outside, served({ ready: 0, nodes: [] })),
      /^Failed: gate [^;]*; bring it back$/,
    ],
    ['they cannot be read', { sights: { webhooks: unseen } }, `Unknown: ${unseen.unseen}`],
  ])('%s', (_name, traits, answer) => {
    if (typeof answer === 'string') expect(answerOf(webhooks, traits)).toBe(answer)
    else expect(answerOf(webhooks, traits)).toMatch(answer)
  })
})

describe('what a webhook is asked about', () => {
  const webhook = (
    groups: string[],
    resources: string[],
    operations = ['CREATE'],
    more: Partial<Webhook> = {},
  ): Webhook => ({
    name: 'gate',
    clientConfig: {},
    rules: [{ apiGroups: groups, resources, operations }],
    ...more,
  })
  it.each<[string, Webhook, readonly string[]]>([
    ['pods', webhook([''], ['pods']), ['creating pods']],
    ['evictions', webhook([''], ['pods/eviction']), ['evicting pods']],
    ['all of pods', webhook([''], ['pods/*']), ['creating pods', 'scheduling pods', 'evicting pods']],
    ['a star stands for no sub-resource', webhook([''], ['*']), ['creating pods']],
    ['everything', webhook(['*'], ['*/*'], ['CREATE']), ['creating pods', 'scheduling pods', 'evicting pods']],
    ['nodes', webhook([''], ['nodes'], ['UPDATE']), ['cordoning nodes']],
    ['leases', webhook(['coordination.k8s.io'], ['leases'], ['*']), ['heartbeats']],
    ['deployments', webhook(['apps'], ['deployments']), []],
    ['deleting pods', webhook([''], ['pods'], ['DELETE']), ['deleting pods']],
    ['all that is done to pods', webhook([''], ['pods'], ['*']), ['creating pods', 'deleting pods']],
    ['deleting evictions, which nobody does', webhook([''], ['pods/eviction'], ['DELETE']), []],
    ['lets pass when nobody answers', webhook([''], ['pods'], ['CREATE'], { failurePolicy: 'Ignore' }), []],
  ])('%s', (_name, asked, what) => expect(guardedBy(asked)).toEqual(what))

  it('is narrowed by conditions and labels of objects, not by namespaces', () => {
    const labels = { matchLabels: { app: 'web' } }
    expect(isNarrowed(webhook([], []))).toBe(false)
    expect(isNarrowed(webhook([], [], [], { objectSelector: {}, namespaceSelector: labels }))).toBe(false)
    expect(isNarrowed(webhook([], [], [], { objectSelector: labels }))).toBe(true)
    expect(isNarrowed(webhook([], [], [], { matchConditions: [{ name: 'x' }] }))).toBe(true)
  })
})
