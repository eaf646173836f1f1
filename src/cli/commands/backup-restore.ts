// slipway backup restore: on a control-plane host itself, as root, while the API may be gone.

import type { Command } from 'commander'
import type { BackupManifest } from '../../api/backup.ts'
import type { RestoreRecord } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { clustersOf } from '../../core/restore/backup-choice.ts'
import { memberNames } from '../../core/restore/member-site.ts'
import { otherMembers } from '../../core/restore/other-members.ts'
import { differences } from '../../core/restore/pending-restore.ts'
import { canUndo, describeRestore } from '../../core/restore/restore-plan.ts'
import type { BackupShelf, PlannedRestore } from '../../ports/backup-shelf.ts'
import { type PlaceOptions, placeOf, placeOptions, shelfOf } from '../backup-options.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { type Column, tableLines, widthOf, writeLines } from '../table.ts'

interface RestoreOptions extends PlaceOptions {
  readonly members?: string
  readonly restoreId?: string
  readonly yes?: boolean
  readonly undo?: boolean
  readonly list?: boolean
}

export function addBackupRestore(parent: Command, run: RunAction): void {
  const command = parent
    .command('restore [name]')
    .summary('on a control-plane host: put etcd back to a backup')
    .description(
      'Restores etcd on this control-plane host, as root, also with the API gone: says what it will do, asks, and does it. Cut off, it goes on where it stopped.',
    )
  placeOptions(command)
    .option(
      '--members <list>',
      'all members, as cp1=https://10.0.0.1:2380,cp2=… (default: what etcd or its manifest says)',
    )
    .option('--restore-id <id>', 'on every host but the first: as the first one printed it')
    .option('--list', 'only list what the store holds')
    .option('--yes', 'do not ask')
    .option('--undo', 'put back what was there, as long as the restored etcd has no majority')
    .addHelpText('after', help)
    .action(run(runRestore))
}

const help = `
With several members begin on one host: its plan prints the command for all
others, with the id of this restore, and what they need of this host. Each
waits for the others; one that is restored without the id never joins.

Examples:
  slipway backup restore --list
  slipway backup restore
  slipway backup restore 20260105-080000-cp1 --folder /mnt/backups --members cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380`

async function runRestore(context: CommandContext, name: string | undefined, options: RestoreOptions): Promise<number> {
  const shelf = await shelfOf(context, options)
  if (options.list) return list(context, shelf, options)
  const pending = await shelf.pending()
  if (options.undo) return undo(context, shelf, pending, options)
  if (pending) refuseOther(pending, name, options)
  const planned = pending
    ? undefined
    : await shelf.plan(
        placeOf(options),
        { name, members: options.members, restoreId: options.restoreId },
        context.signal,
      )
  const record = pending ?? planned?.record
  if (!record) return exitCode.failed
  const { out } = context
  writeLines(out, [
    pending
      ? `A restore of ${record.backup.name} was begun here at ${record.startedAt}; what is left of it:`
      : head(record),
    ...ofAnother(record),
    '',
    ...describeRestore(record),
    '',
    ...otherMembers(record, options.hostRoot === '/' ? undefined : options.hostRoot),
  ])
  if (!(await isWanted(context, shelf, planned, options))) {
    writeLines(out, ['Nothing was changed.', ...keepingId(record)])
    return exitCode.blocked
  }
  await shelf.carryOut(record, (line) => out.write(`${line}\n`), context.signal)
  writeLines(out, [
    `etcd of this host is restored to ${record.backup.name}.`,
    `The data of before is in ${record.aside}; remove it when you need it no more.`,
    'Slipway starts nothing before every agent has reported: slipway status',
  ])
  return exitCode.done
}

/** Whatever is not a yes, also an end in the middle of the question: what was fetched must not stay behind. */
async function isWanted(
  context: CommandContext,
  shelf: BackupShelf,
  planned: PlannedRestore | undefined,
  options: RestoreOptions,
): Promise<boolean> {
  let wanted = false
  try {
    refuseGuess(planned, options)
    wanted = options.yes || (await context.confirm('Do it? Only "yes" is a yes: '))
    return wanted
  } finally {
    if (planned && !wanted) await shelf.discard(planned.record)
  }
}

/** Said no after the other hosts' command was printed: the next run would draw another id. */
function keepingId({ members, isFirst, restoreId }: RestoreRecord): readonly string[] {
  if (!isFirst || memberNames(members).length === 1) return []
  return [`For the same restore later add --restore-id ${restoreId} here, too; without it, it is another one.`]
}

function ofAnother({ backup: { name, otherCluster } }: RestoreRecord): readonly string[] {
  if (otherCluster === undefined) return []
  return [`${name} is a backup of ANOTHER CLUSTER (${otherCluster}): all that this one holds is replaced by that.`]
}

function head({ backup, members, site }: RestoreRecord): string {
  const all = memberNames(members)
  const who = all.length === 1 ? 'its only member' : `one of ${all.length} members: all must be restored`
  return `etcd on this host (${site.name}, ${who}) goes back to ${backup.name}, revision ${backup.revision}:`
}

/** A manifest only knows who was there when it was written: with three members that may be one. */
function refuseGuess(planned: PlannedRestore | undefined, { yes }: RestoreOptions): void {
  if (!yes || planned?.from !== 'manifest') return
  throw new SlipwayError(
    'Refused',
    `etcd does not answer, so its members are known from the manifest alone: ${planned.record.members}`,
    {
      nextStep: 'name them all with --members, or leave --yes out and look at the plan',
    },
  )
}

/** What was begun wins over what is asked for: silently, a person would wait for something else. */
function refuseOther(pending: RestoreRecord, name: string | undefined, options: RestoreOptions): void {
  const { members, restoreId } = options
  const other = differences(pending, { ...placeOf(options), name, members, restoreId })
  if (other.length === 0) return
  const { backup, startedAt } = pending
  throw new SlipwayError(
    'Refused',
    `a restore of ${backup.name} was begun here at ${startedAt}, and not with ${other.join(', ')}`,
    {
      nextStep: canUndo(pending)
        ? 'go on with it by slipway backup restore alone, or put back what was there first: slipway backup restore --undo'
        : 'go on with it by slipway backup restore alone: etcd runs with the restored data already',
    },
  )
}

async function undo(
  context: CommandContext,
  shelf: BackupShelf,
  pending: RestoreRecord | undefined,
  { yes }: RestoreOptions,
): Promise<number> {
  if (!pending) {
    throw new SlipwayError('NotFound', 'no restore was begun here', { nextStep: 'there is nothing to undo' })
  }
  if (canUndo(pending)) {
    writeLines(context.out, [
      `The restored etcd stops if it runs, the data of before comes back from ${pending.aside}, and the static pods start again.`,
    ])
    if (!(yes || (await context.confirm('Do it? Only "yes" is a yes: ')))) return exitCode.blocked
  }
  await shelf.undo(pending, (line) => context.out.write(`${line}\n`), context.signal)
  writeLines(context.out, ['What was there before is back.'])
  return exitCode.done
}

async function list(context: CommandContext, shelf: BackupShelf, options: RestoreOptions): Promise<number> {
  const found = await shelf.list(placeOf(options), context.signal)
  writeLines(context.out, tableLines(columnsOf(found), found, widthOf(context.out)))
  return exitCode.done
}

function columnsOf(found: readonly BackupManifest[]): readonly Column<BackupManifest>[] {
  return clustersOf(found).length > 1 ? [nameColumn, ...ownerColumns, ...columns] : [nameColumn, ...columns]
}

const nameColumn: Column<BackupManifest> = { title: 'NAME', value: ({ name }) => name }

const ownerColumns: readonly Column<BackupManifest>[] = [
  { title: 'NODE', value: ({ node }) => node },
  { title: 'CLUSTER', value: ({ cluster }) => cluster ?? '-' },
]

const columns: readonly Column<BackupManifest>[] = [
  { title: 'AT', value: ({ at }) => at },
  { title: 'ETCD', value: ({ etcd }) => etcd },
  { title: 'REVISION', value: ({ revision }) => revision },
  { title: 'BYTES', value: ({ snapshotBytes }) => String(snapshotBytes) },
  { title: 'VERIFIED', value: ({ verified }) => verified },
]
