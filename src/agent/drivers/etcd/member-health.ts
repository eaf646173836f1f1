import { type EtcdMember, endpointHealthSchema, endpointStatusSchema } from '../../../api/etcd-output.ts'
import type { Host } from '../../../ports/host.ts'
import { jsonAnswerOf } from '../host-answer.ts'

export const etcdctl: readonly string[] = ['etcdctl', '--command-timeout=5s', '--dial-timeout=3s', '--write-out=json']

/** Which of these members is not healthy, for people; undefined when all are. */
export async function unhealthy(
  host: Host,
  { options }: Pick<EtcdMember, 'options'>,
  endpoints: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (endpoints.length === 0) return undefined
  const argv = [...etcdctl, ...options, `--endpoints=${endpoints.join(',')}`, 'endpoint', 'health']
  // It ends with 1 where one is not healthy, and says which all the same.
  const { stdout, stderr } = await host.run({ argv, timeoutMs: 30_000 + endpoints.length * 6_000 }, signal)
  const parsed = endpointHealthSchema.safeParse(parseJson(stdout))
  if (!parsed.success) return `etcdctl does not say whether ${endpoints.join(', ')} are healthy: ${stderr.slice(-300)}`
  for (const endpoint of endpoints) {
    const found = parsed.data.find((each) => each.endpoint === endpoint)
    if (!found?.health) return `the member of etcd at ${endpoint} is not healthy: ${found?.error ?? 'no answer'}`
  }
  return undefined
}

/** The version this host's member runs. */
export async function runningVersion(host: Host, { own, options }: EtcdMember, signal: AbortSignal): Promise<string> {
  const argv = [...etcdctl, ...options, `--endpoints=${own}`, 'endpoint', 'status']
  const [status] = await jsonAnswerOf(host, { argv }, endpointStatusSchema, signal)
  return status?.Status.version ?? 'unknown'
}

/** `etcd Version: 3.6.8` */
export async function installedVersion(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const { stdout } = await host.run({ argv: ['etcd', '--version'] }, signal)
  return /^etcd Version: (\S+)$/m.exec(stdout)?.[1]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
