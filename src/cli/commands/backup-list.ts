import type { Command } from 'commander'
import type { BackupManifest } from '../../api/backup.ts'
import type { StoreRecord } from '../../api/backup-plan.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { clustersOf } from '../../core/restore/backup-choice.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { listAll, readPolicy } from '../read-cluster.ts'
import { sizeText } from '../size-text.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Column, tableLines, widthOf, writeLines } from '../table.ts'
import { ageText } from '../time-text.ts'

interface ListOptions {
  readonly store?: string
  readonly output: Format
}

type Row = { readonly store: string; readonly location?: string } & Pick<
  BackupManifest,
  'name' | 'at' | 'node' | 'bytes' | 'revision' | 'verified' | 'sha256'
> &
  Partial<Pick<BackupManifest, 'encryption' | 'etcd' | 'cluster'>>

export function addBackupList(parent: Command, run: RunAction): void {
  parent
    .command('list')
    .summary('the backups in the stores, as agents last saw them')
    .description(
      'Lists the backups of etcd, newest first: what the host that made the last one found in each store, fifty at most.',
    )
    .option('--store <name>', 'only this one')
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway backup list
  slipway backup list --store nightly --output json`,
    )
    .action(run(runList))
}

async function runList(context: CommandContext, { store, output }: ListOptions): Promise<number> {
  const { out, clock, signal } = context
  const api = await context.api()
  const [policy, states] = await Promise.all([readPolicy(api, signal), listAll(api, nodeStates, {}, signal)])
  const isMeant = (one: { readonly store: string }) => store === undefined || one.store === store
  const backups = rowsOf(policy, states.items).filter(isMeant)
  const stores = (policy?.status?.backups ?? []).filter(isMeant)
  if (output !== 'table') {
    await writeValue(context, output, { backups, stores })
    return exitCode.done
  }
  if (backups.length === 0) out.write('no backup is known\n')
  else writeLines(out, tableLines(columns(clock.now(), isShared(backups)), backups, widthOf(out)))
  writeLines(out, stores.flatMap(storeLines))
  return exitCode.done
}

/**
 * Of each store what the newest answer says is in it, of a folder what each host says of its own; and its last good one, also
 * where that answer is gone.
 */
function rowsOf(policy: MaintenancePolicy | undefined, states: readonly NodeState[]): readonly Row[] {
  const answers = states
    .flatMap(({ status }) => status?.agent?.backup ?? [])
    .filter(({ kept }) => kept !== undefined)
    .sort((a, b) => ((a.finishedAt ?? '') < (b.finishedAt ?? '') ? 1 : -1))
  const folders = new Set((policy?.spec.backupStores ?? []).flatMap(({ name, path }) => (path ? [name] : [])))
  const rows = new Map<string, Row>()
  const known = new Set<string>()
  for (const { store, kept = [], manifest, location } of answers) {
    if (known.has(store) && !folders.has(store)) continue
    known.add(store)
    for (const one of kept) {
      const where = one.name === manifest?.name && location !== undefined ? { location } : {}
      rows.set(`${store}/${one.name}`, { store, ...one, ...where })
    }
  }
  for (const { store, lastSuccess } of policy?.status?.backups ?? []) {
    if (!lastSuccess || known.has(store)) continue
    const { subject: _subject, ...made } = lastSuccess
    rows.set(`${store}/${made.name}`, { store, ...made })
  }
  return [...rows.values()].sort((a, b) => (a.at < b.at ? 1 : -1))
}

/** What the policy alone tells of does not say whose it is: it is no cluster of its own. */
function isShared(rows: readonly Row[]): boolean {
  return clustersOf(rows.filter(({ cluster }) => cluster !== undefined)).length > 1
}

const columns = (now: Date, withCluster: boolean): readonly Column<Row>[] => [
  { title: 'STORE', value: ({ store }) => store },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'AGE', value: ({ at }) => ageText(at, now) },
  { title: 'HOST', value: ({ node }) => node },
  ...(withCluster ? [{ title: 'CLUSTER', value: ({ cluster }: Row) => cluster ?? '-' }] : []),
  { title: 'SIZE', value: ({ bytes }) => sizeText(bytes) },
  { title: 'REVISION', value: ({ revision }) => revision },
  { title: 'CHECKED BY', value: ({ verified }) => verified },
  { title: 'ENCRYPTED', value: ({ encryption }) => encryption ?? '-' },
]

function storeLines({ store, next, lastFailure, lastSuccess }: StoreRecord): readonly string[] {
  const isFailing = lastFailure && (!lastSuccess || lastSuccess.at < lastFailure.at)
  return [
    ...(next === undefined ? [] : [`${store}: the next is due at ${next}`]),
    ...(isFailing ? [`${store}: the last one failed at ${lastFailure.at}: ${lastFailure.reason.message}`] : []),
  ]
}
