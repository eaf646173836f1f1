// Backups of etcd: where they lie, when the next is made, which of them were checked, and how one is brought back.

import { useLive } from '../live/use-live.tsx'
import { useNow } from '../live/use-now.ts'
import { Card } from '../parts/card.tsx'
import { CommandLine } from '../parts/command-line.tsx'
import { Chip } from '../parts/phase-chip.tsx'
import { PageHead, Screen } from '../parts/screen.tsx'
import { EmptyState, Skeleton } from '../parts/states.tsx'
import table from '../parts/table.module.css'
import text from '../parts/text.module.css'
import { TimeText } from '../parts/time-text.tsx'
import { type BackupRow, backupRows, backupSentence, sizeText } from './backups/backup-rows.ts'
import styles from './backups/backups-page.module.css'
import { Stores } from './backups/stores.tsx'

export function BackupsPage() {
  const stores = useLive((state) => state.policy.stores)
  const updates = useLive((state) => state.updates)
  const now = useNow(30_000)
  if (!(stores && updates)) return <Loading />
  const rows = backupRows(updates, stores)
  return (
    <Screen>
      <PageHead
        page="Backups"
        title={backupSentence(rows, stores, now)}
        note="Of etcd, made before control-plane nodes are taken and by schedule; a node is not taken before its backup is stored and checked."
      />
      {stores.length === 0 ? <NoStore /> : <Stores stores={stores} />}
      <Backups rows={rows} />
      <ByHand />
    </Screen>
  )
}

function NoStore() {
  return (
    <Card>
      <EmptyState title="Updates run without a backup of etcd" glyph="archive" family="out">
        <p>
          Name a folder, an NFS server, S3 or a GCS bucket in spec.backupStores of the policy. What is stored there can
          be encrypted.
        </p>
        <CommandLine command="kubectl edit maintenancepolicy default" />
      </EmptyState>
    </Card>
  )
}

function Backups({ rows }: { readonly rows: readonly BackupRow[] }) {
  if (rows.length === 0) return null
  return (
    <Card title="Backups" note="newest first; as far as updates and stores remember them">
      <table className={table.table}>
        <colgroup>
          <col className={styles.when} />
          <col className={styles.why} />
          <col className={styles.store} />
          <col className={styles.size} />
          <col className={`${styles.revision} ${table.roomy}`} />
          <col />
          <col className={styles.checked} />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Why</th>
            <th scope="col">Store</th>
            <th scope="col" className={table.right}>
              Size
            </th>
            <th scope="col" className={`${table.right} ${table.roomy}`}>
              Revision
            </th>
            <th scope="col">Where</th>
            <th scope="col">Checked</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.store} ${row.location}`}>
              <td>
                <TimeText at={row.at} />
              </td>
              <td className={text.dim} title={row.reason}>
                {row.update === undefined ? row.reason : <a href={`#/update/${row.update}`}>{row.reason}</a>}
              </td>
              <td className={text.dim}>{row.store}</td>
              <td className={table.right}>{row.bytes === undefined ? '–' : sizeText(row.bytes)}</td>
              <td className={`${table.right} ${table.roomy}`}>{row.revision ?? '–'}</td>
              <td
                className={`${text.mono} ${text.dim}`}
                title={row.sha256 ? `${row.location}\nsha256 ${row.sha256}` : row.location}
              >
                {row.location}
              </td>
              <td>
                {row.verified === undefined ? (
                  <Chip family="out" glyph="RequiresAttention" label="Not checked" />
                ) : (
                  <Chip family="done" glyph="Done" label={row.verified} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

/** Bringing one back stops the API server: that is done on the host, by a person who is there. */
function ByHand() {
  return (
    <Card
      title="By hand"
      note="a restore is never a button: it is run on a control-plane host, and stops its API server"
    >
      <dl className={styles.commands}>
        <dt>Make one now</dt>
        <dd>
          <CommandLine command="slipway backup create" />
        </dd>
        <dt>List them</dt>
        <dd>
          <CommandLine command="slipway backup list" />
        </dd>
        <dt>Check the newest, on a host</dt>
        <dd>
          <CommandLine command="slipway backup verify --settings /var/lib/slipway/backup-store.json --restore" />
        </dd>
        <dt>Bring one back, on a host</dt>
        <dd>
          <CommandLine command="slipway backup restore --list" />
        </dd>
      </dl>
    </Card>
  )
}

function Loading() {
  return (
    <Screen busy>
      <PageHead page="Backups" title={<Skeleton width="320px" />} note={<Skeleton width="480px" />} />
      <Skeleton height="140px" />
      <Skeleton height="240px" />
    </Screen>
  )
}
