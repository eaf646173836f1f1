// One message to one receiver. An address may be a secret itself, so nothing of it is in what is said of a failure.

import { isKubeError } from '../../api/kube-error.ts'
import type { Receiver } from '../../api/notification.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { messageBody } from '../../core/notification/message.ts'
import type { News } from '../../core/notification/news.ts'
import { readConfigKey, readSecretKey } from '../cluster/read-key.ts'
import type { OperatorPorts } from '../ports.ts'

export interface DeliveryFailure {
  readonly message: string
  /** Whether another attempt may do. */
  readonly mayPass: boolean
  readonly afterMs?: number
}

const answerMs = 10_000
/** The server says that it is not there for us, or not now. */
const passing = new Set([408, 425, 429])

/** Undefined when it was heard. */
export async function deliver(
  { ports, namespace }: { readonly ports: OperatorPorts; readonly namespace: string },
  { name, webhook }: Receiver,
  news: News,
  signal: AbortSignal,
): Promise<DeliveryFailure | undefined> {
  const { api, web, clock } = ports
  if (!web) return { message: 'this operator has no way to tell a server', mayPass: false }
  const { url, urlSecret, format = 'Json', signingSecret, ca } = webhook
  const secret = (key: typeof urlSecret) => key && readSecretKey(api, namespace, key, signal)
  try {
    const [address, signingKey, authority] = await Promise.all([
      url ?? secret(urlSecret),
      secret(signingSecret),
      ca && readConfigKey(api, namespace, ca, signal),
    ])
    if (address === undefined || !/^https?:\/\//.test(address)) {
      return { message: 'its address does not begin with http:// or https://', mayPass: false }
    }
    if (!URL.canParse(address)) return { message: 'its address is no valid URL', mayPass: false }
    const { status } = await web.request(
      {
        method: 'POST',
        url: address,
        headers: { 'content-type': 'application/json', 'idempotency-key': fingerprint([name, news.key]) },
        body: messageBody(news, format),
        timeoutMs: answerMs,
        ...(signingKey !== undefined && { signing: { secret: signingKey, at: clock.now() } }),
        ...(authority !== undefined && { ca: authority }),
      },
      signal,
    )
    if (status >= 200 && status < 300) return undefined
    return { message: `it answered ${status}`, mayPass: status >= 500 || passing.has(status) }
  } catch (error) {
    if (signal.aborted) throw error
    // The address is in the words of the error itself; what is behind it names host and port at most.
    if (error instanceof SlipwayError && error.code === 'CannotReach') return { message: whyNot(error), mayPass: true }
    if (error instanceof SlipwayError || isKubeError(error)) return { message: error.message, mayPass: true }
    throw error
  }
}

function whyNot({ cause }: SlipwayError): string {
  if (!(cause instanceof Error)) return 'it cannot be reached'
  const isLate = cause.name === 'TimeoutError' || cause.name === 'AbortError'
  return isLate
    ? `it gave no answer within ${answerMs / 1000} s`
    : `it cannot be reached: ${cause.message.slice(0, 200)}`
}
