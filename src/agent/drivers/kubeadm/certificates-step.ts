import { certificateExpirationSchema } from '../../../api/kubernetes-output.ts'
import type { ActStep } from '../driver.ts'
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
    act: async (context, signal) => {
      const argv = [await kubeadm(context, signal), 'certs', 'check-expiration', '--output=json']
      const command = { argv, timeoutMs: 3 * 60_000 }
      const { certificates } = await jsonAnswerOf(context.host, command, certificateExpirationSchema, signal)
      const soon = certificates.filter(({ residualTime, missing }) => missing !== true && residualTime < soonSeconds)
      if (soon.length === 0) return
      const named = soon.map(({ name, expirationDate }) => `${name} (${expirationDate ?? 'unknown'})`).join(', ')
      await context.warn(`certificates expire within 30 days: ${named}`.slice(0, 512))
    },
  }
}
