// Agents that answer for backups without making any: it takes its time, and the store may not take it. One that is interrupted
// begins again, as the real ones do.

import { createHash } from 'node:crypto'
import { Bell } from '../../agent/bell.ts'
import type { SideTask, SideTaskContext } from '../../agent/side-task.ts'
import { type BackupAnswer, type BackupManifest, type BackupRequest, maxBackupsListed } from '../../api/backup.ts'
import { backupAbility } from '../../api/backup-plan.ts'
import type { Reason } from '../../api/reason.ts'
import { sleep } from '../../kube/sleep.ts'

export interface PretendStores {
  /** Why this host cannot store anything there at this moment. */
  readonly trouble?: (node: string, store: string) => Reason | undefined
  readonly takesMs?: readonly [number, number]
}

/** About what a small etcd and a store nearby take. */
const usualMs = [15_000, 25_000] as const

export function pretendBackups(stores: PretendStores = {}): SideTask {
  return { name: backupAbility, run: (context, signal) => answer(context, stores, signal) }
}

async function answer(context: SideTaskContext, stores: PretendStores, signal: AbortSignal): Promise<void> {
  const { store, nodeName, publisher } = context
  const bell = new Bell()
  const unsubscribe = store.subscribe(() => bell.ring())
  try {
    for (;;) {
      const state = store.get(nodeName)
      const question = state?.spec.backup
      const said = publisher.said.backup ?? state?.status?.agent?.backup
      if (question && (said?.request !== question.request || said.state === 'Running')) {
        await make(context, stores, question, signal)
        continue
      }
      // A question that was taken back has no answer.
      if (state && !question && said) publisher.publish({ backup: undefined })
      const kept = publisher.said.backupStore ?? state?.status?.agent?.backupStore
      if (kept !== undefined && kept === state?.spec.forgetStore) publisher.publish({ backupStore: undefined })
      await bell.heard(signal)
    }
  } finally {
    unsubscribe()
  }
}

async function make(
  context: SideTaskContext,
  { trouble, takesMs: [least, most] = usualMs }: PretendStores,
  question: BackupRequest,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, store, nodeName, publisher } = context
  const { request, store: place } = question
  const startedAt = clock.now().toISOString()
  const kept = keptIn(context, place.name)
  publisher.publish({ backup: { request, store: place.name, state: 'Running', startedAt } })
  await sleep(clock, least + random.next() * (most - least), signal)
  if (store.get(nodeName)?.spec.backup?.request !== request) return
  const answered = { request, store: place.name, startedAt, finishedAt: clock.now().toISOString() }
  const reason = trouble?.(nodeName, place.name)
  if (reason) publisher.publish({ backup: { ...answered, state: 'Failed', reason } })
  else {
    const manifest = manifestOf(question, nodeName, clock.now())
    const all = [manifest, ...kept.filter(({ name }) => name !== manifest.name)].slice(0, maxBackupsListed)
    const location = `pretend:${place.name}/${question.name}`
    publisher.publish({
      backup: { ...answered, state: 'Succeeded', location, manifest, removed: 0, kept: all },
      backupStore: place.name,
    })
  }
}

function keptIn({ store, nodeName, publisher }: SideTaskContext, name: string): readonly BackupManifest[] {
  const last: BackupAnswer | undefined = publisher.said.backup ?? store.get(nodeName)?.status?.agent?.backup
  return last?.store === name ? (last.kept ?? []) : []
}

function manifestOf({ name, verify, store }: BackupRequest, node: string, now: Date): BackupManifest {
  const sha256 = createHash('sha256').update(`${store.name}/${name}`).digest('hex')
  const revision = String(Math.floor(now.getTime() / 1000))
  return {
    ...{ name, node, at: now.toISOString(), etcd: '3.6.4', revision, sha256, bytes: 1_000_000, verified: verify },
    ...{ snapshotSha256: sha256, snapshotBytes: 4_000_000, compression: 'zstd' },
  }
}
