import { certificateExpirationSchema } from '../../../api/kubernetes-output.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { jsonAnswerOf } from '../host-answer.ts'
import type { KubeadmProgram } from './upgrade-step.ts'

const soonSeconds = 30 * 24 * 60 * 60

/**
 * Says which certificates of the control plane expire soon; kubeadm renews them while it upgrades, unless it was told not to. Where
 * it cannot tell, as before 1.30, that is said: the control plane is upgraded already.
 */
export function checkCertificates(kubeadm: KubeadmProgram): ActStep {
  return {
    name: 'check-certificates',
    disruptive: false,
    attempts: 3,
    brief: true,
    holds: async (context, signal) => (await warningOf(kubeadm, context, signal)) === undefined,
    act: async (context, signal) => {
      const warning = await warningOf(kubeadm, context, signal)
      if (warning !== undefined) await context.warn(warning.slice(0, 512))
    },
  }
}

async function warningOf(
  kubeadm: KubeadmProgram,
  context: StepContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const program = await kubeadm(context, signal)
  try {
    const soon = await expiringSoon(program, context, signal)
    return soon.length === 0 ? undefined : `certificates expire within 30 days: ${soon.join(', ')}`
  } catch (error) {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    return `when the certificates expire is not known: ${error.message}`
  }
}

async function expiringSoon(program: string, { host }: StepContext, signal: AbortSignal): Promise<readonly string[]> {
  // The short form: the long one was another in 1.30.
  const command = { argv: [program, 'certs', 'check-expiration', '-o', 'json'], timeoutMs: 3 * 60_000 }
  const { certificates } = await jsonAnswerOf(host, command, certificateExpirationSchema, signal)
  return certificates.flatMap(({ name, expirationDate, residualTime, missing }) =>
    missing !== true && residualTime < soonSeconds ? [`${name} (${expirationDate ?? 'unknown'})`] : [],
  )
}
