import { restoredAnnotation } from '../../api/maintenance-policy.ts'
import type { RestoreRecord } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { markedPolicy, policyKey } from '../../core/restore/restored-mark.ts'
import type { Host } from '../../ports/host.ts'
import type { EtcdGateway } from '../control-plane/etcd-gateway.ts'

/** What became of the mark: written or not needed, or left to an API server. */
export type MarkOutcome = 'Marked' | 'NoLedger' | 'Later'

const tries = 5

/** Into etcd itself, while no API server of this host runs. */
export async function markInEtcd(
  { site, mark }: RestoreRecord,
  gateway: EtcdGateway,
  signal: AbortSignal,
): Promise<MarkOutcome> {
  const key = policyKey(site.prefix)
  for (let attempt = 0; attempt < tries; attempt++) {
    const stored = await gateway.read(site.etcd.url, key, signal)
    if (!stored) return 'NoLedger'
    const next = markedPolicy(stored.value, mark)
    if ('marked' in next) return 'Marked'
    if ('unreadable' in next) return 'Later'
    const isWritten = await gateway.replace(site.etcd.url, key, { value: next.text, revision: stored.revision }, signal)
    if (isWritten) return 'Marked'
  }
  throw new SlipwayError('RestoreFailed', `${key} is written by somebody else all the time: does an API server run?`, {
    nextStep: 'stop the API servers of all control-plane hosts, then run it again',
  })
}

/** Where etcd's content is encrypted: the API server writes it, as its first administrator. */
export async function markByServer(host: Host, mark: string, signal: AbortSignal): Promise<void> {
  const annotation = `${restoredAnnotation}=${mark}`
  const target = ['annotate', 'maintenancepolicy', 'default', '--overwrite', annotation]
  const argv = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', ...target]
  const { exitCode, stderr } = await host.run({ argv }, signal)
  if (exitCode === 0) return
  throw new SlipwayError('RestoreFailed', `Slipway could not be told of the restore: ${stderr.trim().slice(0, 500)}`, {
    nextStep: `do it by hand: kubectl ${target.join(' ')}`,
  })
}
