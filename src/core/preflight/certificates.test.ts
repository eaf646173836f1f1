import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, toNewest, type ViewTraits } from '../../../test/samples/check-views.ts'
import { certificates } from './certificates.ts'

const expires = (certificatesExpireAt: string, more: object = {}) => ({
  hosts: { c1: { facts: { certificatesExpireAt }, ...more }, w1: {} },
})
const fine = 'Passed: no certificate of the control plane is about to run out'
const out = (at: string) =>
  `Failed: certificates of the control plane run out: c1 (${at}); renew them with kubeadm certs renew all`
const soon = (at: string) => `Warning: certificates of the control plane run out within 30 days: c1 (${at})`
const [gone, today, thisMonth, nextYear] = [
  '2026-05-31T00:00:00Z',
  '2026-06-02T00:00:00Z',
  '2026-06-20T00:00:00Z',
  '2027-05-01T00:00:00Z',
] as const

describe('the check Certificates', () => {
  it.each<[string, ViewTraits, string]>([
    ['none known', {}, fine],
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
      'skipped',
      { ...expires(gone), spec: { ...toNewest, preflight: { skip: ['Certificates'] } } },
      `Skipped: skipped; it would have said ${out(gone)}`,
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(certificates, traits)).toBe(answer))
})
