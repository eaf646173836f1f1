import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, toNewest, type ViewTraits } from '../../../test/samples/check-views.ts'
import { certificates } from './certificates.ts'

const expires = (certificatesExpireAt: string, more: object = {}) => ({
  hosts: { c1: { facts: { certificatesExpireAt }, ...more }, w1: {} },
})
const fine = 'Passed: no certificate of the control plane is about to run out'
const out = (at: string) =>
  `Failed: certificates of the control plane run out: c1 (${at}); renew them with kubeadm certs renew all`
const soon = (at: string) =>
  `Warning: certificates of the control plane run out within 30 days: c1 (${at}); renew them with kubeadm certs renew all`
const rotate =
  'kubeadm renews none, so rotate them by hand: https://kubernetes.io/docs/tasks/tls/manual-rotation-of-ca-certificates/'
const elsewhere = 'have them made anew where the key of their authority lies'
const first = (at: string, kind: 'authoritiesExpireAt' | 'unrenewedExpireAt') => ({
  hosts: { c1: { facts: { certificatesExpireAt: at, [kind]: at } }, w1: {} },
})
const [gone, today, thisMonth, nextYear] = [
  '2026-05-31T00:00:00Z',
  '2026-06-02T00:00:00Z',
  '2026-06-20T00:00:00Z',
  '2027-05-01T00:00:00Z',
] as const

const untold = { certificatesExpireAt: undefined }
const silent = (name: string) =>
  `Unknown: ${name} does not say when its certificates run out; where they lie elsewhere, look at them and skip Certificates`
const silently = (name: string) =>
  `Warning: ${name} does not say when its certificates run out; this update touches nothing there, so look at them yourself`

describe('the check Certificates', () => {
  it.each<[string, ViewTraits, string]>([
    ['not told by a host of kubeadm', { hosts: { c1: { facts: untold }, w1: {} } }, silent('c1')],
    [
      'not told by a host without an agent',
      { hosts: { c1: { silent: true }, c2: { left: true }, w1: {} } },
      silent('c1'),
    ],
    [
      'not told by one that is not of the update',
      { hosts: { c1: { facts: untold, left: true }, c2: {}, w1: {} } },
      silent('c1'),
    ],
    [
      'not told, and nothing of the control plane is touched',
      { hosts: { c1: { silent: true, left: true }, w1: {} }, spec: justReboot },
      silently('c1'),
    ],
    [
      'not told, no node of the control plane is taken, and kubelets alone are brought',
      {
        hosts: { c1: { facts: untold, left: true }, w1: {} },
        spec: { kubernetes: { version: 'v1.36.3', components: ['kubelet'] } },
      },
      silently('c1'),
    ],
    [
      'not told, no node of the control plane is taken, and kubeadm asks its API server',
      { hosts: { c1: { silent: true, left: true }, w1: {} } },
      silent('c1'),
    ],
    [
      'not told, and the control plane is taken',
      { hosts: { c1: { silent: true }, w1: {} }, spec: justReboot },
      silent('c1'),
    ],
    [
      'run out, though nothing of the control plane is touched',
      { ...expires(gone, { left: true }), spec: justReboot },
      out(gone),
    ],
    [
      'somewhere else, without kubeadm',
      { hosts: { c1: { facts: { ...untold, apiServer: undefined } }, w1: {} } },
      'Warning: c1 does not say when certificates run out: it is none of kubeadm’s, and they lie elsewhere',
    ],
    ['no control plane to be seen', { hosts: { w1: {} } }, fine],
    [
      'one that has run out comes before one that is not told',
      { hosts: { c1: { facts: { certificatesExpireAt: gone } }, c2: { facts: untold } } },
      out(gone),
    ],
    ['within a day, on a node that is at the target already', expires(today, { kubelet: 'v1.36.3' }), out(today)],
    [
      'within a day, on a node whose kubelet alone is at the target',
      { hosts: { c1: { kubelet: 'v1.36.3', facts: { certificatesExpireAt: today, apiServer: 'v1.35.4' } }, w1: {} } },
      fine,
    ],
    ['good for long', { ...expires(nextYear), spec: justReboot }, fine],
    ['within a month', { ...expires(thisMonth), spec: justReboot }, soon(thisMonth)],
    ['within a day', { ...expires(today), spec: justReboot }, out(today)],
    ['within a day, and kubeadm renews them', expires(today), fine],
    [
      'kubeadm is told not to',
      { ...expires(today), spec: { kubernetes: { version: 'v1.36.3', kubeadm: { certificateRenewal: false } } } },
      out(today),
    ],
    [
      'kubeadm is not run',
      { ...expires(thisMonth), spec: { kubernetes: { version: 'v1.36.3', components: ['kubelet'] } } },
      soon(thisMonth),
    ],
    ['kubeadm is not run on that node', expires(thisMonth, { left: true }), soon(thisMonth)],
    ['expired: nothing renews them by itself', expires(gone), out(gone)],
    [
      'an authority within a day, whatever kubeadm renews',
      first(today, 'authoritiesExpireAt'),
      `Failed: certificate authorities of the control plane run out: c1 (${today}); ${rotate}`,
    ],
    [
      'an authority within a month, and kubeadm renews the rest',
      first(thisMonth, 'authoritiesExpireAt'),
      `Warning: certificate authorities of the control plane run out within 30 days: c1 (${thisMonth}); ${rotate}`,
    ],
    [
      'an authority within a month, behind a certificate that kubeadm renews',
      { hosts: { c1: { facts: { certificatesExpireAt: today, authoritiesExpireAt: thisMonth } }, w1: {} } },
      `Warning: certificate authorities of the control plane run out within 30 days: c1 (${thisMonth}); ${rotate}`,
    ],
    [
      'an authority that is good for long',
      { hosts: { c1: { facts: { certificatesExpireAt: today, authoritiesExpireAt: nextYear } }, w1: {} } },
      fine,
    ],
    [
      'of an external authority within a day',
      first(today, 'unrenewedExpireAt'),
      `Failed: certificates of the control plane that kubeadm cannot renew run out: c1 (${today}); ${elsewhere}`,
    ],
    [
      'skipped',
      { ...expires(gone), spec: { ...toNewest, preflight: { skip: ['Certificates'] } } },
      `Skipped: skipped; it would have said ${out(gone)}`,
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(certificates, traits)).toBe(answer))
})
