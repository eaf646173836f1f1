import { certificateExpirationSchema } from '../../../api/kubernetes-output.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { jsonAnswerOf } from '../host-answer.ts'
import type { KubeadmProgram } from './upgrade-step.ts'

const soonSeconds = 30 * 24 * 60 * 60

/** Says which certificates of the control plane expire soon; kubeadm renews them while it upgrades, unless it was told not to. */
export function checkCertificates(kubeadm: KubeadmProgram): ActStep {
  return {
    name: 'check-certificates',
    disruptive: false,
    attempts: 3,
    brief: true,
    holds: async (context, signal) => (await expiringSoon(kubeadm, context, signal)).length === 0,
    act: async (context, signal) => {
      const soon = await expiringSoon(kubeadm, context, signal)
      if (soon.length > 0) await context.warn(`certificates expire within 30 days: ${soon.join(', ')}`.slice(0, 512))
    },
  }
}

async function expiringSoon(
  kubeadm: KubeadmProgram,
  context: StepContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const argv = [await kubeadm(context, signal), 'certs', 'check-expiration', '--output=json']
  const command = { argv, timeoutMs: 3 * 60_000 }
  const { certificates } = await jsonAnswerOf(context.host, command, certificateExpirationSchema, signal)
  return certificates.flatMap(({ name, expirationDate, residualTime, missing }) =>
    missing !== true && residualTime < soonSeconds ? [`${name} (${expirationDate ?? 'unknown'})`] : [],
  )
}
