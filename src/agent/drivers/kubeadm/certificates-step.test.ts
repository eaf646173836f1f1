import { expect, it } from 'vitest'
import { kubernetesOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { checkCertificates } from './certificates-step.ts'

// The shape `kubeadm certs check-expiration -o json` of 1.36.3 prints; a certificate that is not there has no date.
const printed = (residualTime: number) =>
  JSON.stringify({
    kind: 'CertificateExpirationInfo',
    certificates: [
      {
        name: 'admin.conf',
        expirationDate: '2026-12-01T00:00:00Z',
        residualTime,
        externallyManaged: false,
        missing: false,
      },
      { name: 'super-admin.conf', expirationDate: null, residualTime: 0, externallyManaged: false, missing: true },
    ],
    certificateAuthorities: [],
  })
const day = 24 * 60 * 60

it.each([
  [31 * day, []],
  [29 * day, ['certificates expire within 30 days: admin.conf (2026-12-01T00:00:00Z)']],
  [-day, ['certificates expire within 30 days: admin.conf (2026-12-01T00:00:00Z)']],
])('with %d seconds left it says %j', async (left, warnings) => {
  const made = new StepBench(kubernetesOrder({ role: 'ControlPlane' }))
  made.answers({ 'check-expiration': printed(left) })
  const step = checkCertificates(() => Promise.resolve('kubeadm'))
  expect(await step.holds?.(made.context, made.signal)).toBe(warnings.length === 0)
  await step.act(made.context, made.signal)
  expect(made.warnings).toEqual(warnings)
})

// kubeadm 1.29 cannot print them as JSON, and 1.30 calls the flag --experimental-output, or -o as all later ones do.
it.each([
  ["unknown shorthand flag: 'o' in -o", 1, ''],
  ['', 0, 'CERTIFICATE   EXPIRES'],
])(
  'a kubeadm that does not tell them fails no control plane that was upgraded: %j',
  async (stderr, exitCode, stdout) => {
    const made = new StepBench(kubernetesOrder({ role: 'ControlPlane' }))
    made.answers({ 'certs check-expiration -o json': { exitCode, stdout, stderr } })
    const step = checkCertificates(() => Promise.resolve('kubeadm'))
    expect(await step.holds?.(made.context, made.signal)).toBe(false)
    await step.act(made.context, made.signal)
    expect(made.warnings).toEqual([expect.stringContaining('when the certificates expire is not known')])
  },
)
