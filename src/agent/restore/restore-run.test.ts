import { expect, it } from 'vitest'
import { FakeHost } from '../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../test/fakes/memory-disk.ts'
import { nodeRequests } from '../../adapters/secure-requests/node-requests.ts'
import { type RestoreRecord, restoreSteps } from '../../api/restore-record.ts'
import { planRestore } from '../../core/restore/restore-plan.ts'
import { seal } from '../journal/sealed-file.ts'
import { RestoreRun, restoreRecordFile } from './restore-run.ts'

const folder = '/var/lib/slipway/restore'
const snapshot = `${folder}/snapshot.db`
const { signal } = new AbortController()

const plan = planRestore({
  restoreId: '00112233445566ff',
  isFirst: true,
  site: {
    ...{ kind: 'StaticPod', name: 'cp1', dataDir: '/var/lib/etcd', peerURLs: 'https://10.0.0.1:2380', prefix: '/r' },
    ...{ initialCluster: '', etcd: { url: 'https://10.0.0.1:2379' }, manifests: '/manifests', components: [] },
  },
  members: 'cp1=https://10.0.0.1:2380',
  backup: { name: 'one', revision: '7', etcd: '3.6.5', snapshotSha256: 'a'.repeat(64) },
  etcdutl: '/usr/bin/etcdutl',
  snapshot,
  startedAt: new Date('2026-05-01T10:00:00Z'),
})

const ends: readonly [string, (run: RestoreRun, record: RestoreRecord) => Promise<void>][] = [
  ['carried out', (run, record) => run.carryOut(record, signal)],
  ['undone', (run, record) => run.undo(record, signal)],
]
const records: Readonly<Record<string, RestoreRecord>> = {
  'carried out': { ...plan, begun: [...restoreSteps], done: [...restoreSteps] },
  undone: { ...plan, undoing: true },
}

/** The power is lost after so many operations; of what is not synced this disk keeps all names, or none. Whether it came to its end. */
async function endsCutOff(what: string, end: (typeof ends)[number][1], cut: number, isKept: boolean): Promise<boolean> {
  const clock = new ManualClock()
  const host = new FakeHost(new MemoryDisk(), clock)
  // Programs go well, and none of them changes this disk.
  host.answer = () => ({ exitCode: 0, stdout: '', stderr: '' })
  const restore = () => new RestoreRun({ host, requests: nodeRequests, clock, tell: () => undefined }, folder)
  const record = records[what] ?? plan
  const { disk } = host
  for (const path of ['/var', '/var/lib', '/var/lib/slipway', folder]) disk.durableFolders.add(path)
  await disk.makeFolder(folder)
  disk.putResult(snapshot, 'all of etcd')
  disk.putResult(`${folder}/${restoreRecordFile}`, seal(record))
  disk.budget = disk.operations + cut
  const died = new Promise<boolean>((resolve) => {
    disk.onSpent = () => resolve(false)
  })
  const ended = end(restore(), record).then(() => true)
  const isOver = await Promise.race([ended, died])
  host.losePower(() => (isKept ? 0 : 0.9))
  const pending = await restore().pending()
  if (pending) await end(restore(), pending)
  expect(await host.disk.names(folder), `lost after ${cut} operations`).toEqual([expect.stringMatching(/done\.json$/)])
  return isOver
}

it.each(ends)('a restore that is %s leaves no snapshot, wherever the power is lost', async (what, end) => {
  for (const isKept of [true, false]) {
    let cut = 0
    while (!(await endsCutOff(what, end, cut, isKept))) cut += 1
    expect(cut).toBeGreaterThan(3)
  }
})
