import { type Command, Option } from 'commander'
import { type Verification, verifications } from '../../api/backup.ts'
import { type BackupDemand, type BackupRun, backupAnnotation, type StoreRecord } from '../../api/backup-plan.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { awaitAnswer } from '../await-answer.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { type Activity, tellerOf, withActivity } from '../progress/activity.ts'
import { readPolicy } from '../read-cluster.ts'
import { sizeText } from '../size-text.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'

interface CreateOptions {
  readonly store?: string
  readonly verify?: Verification
  readonly output: Format
}

interface Asked {
  readonly request: string
  readonly store: string
  /** The annotation as it was written. */
  readonly text: string
}

type Made = NonNullable<StoreRecord['lastSuccess']>

export function addBackupCreate(parent: Command, run: RunAction): void {
  parent
    .command('create')
    .summary('make a backup now and follow it to its end')
    .description('Asks the operator for a backup of etcd, follows it to its end, and says where it lies.')
    .option('--store <name>', 'one of the policy’s backupStores (default: the first)')
    .addOption(new Option('--verify <how>', 'how it is checked (default: Hash)').choices(verifications))
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway backup create
  slipway backup create --store nightly --verify Restore`,
    )
    .action(run(runCreate))
}

async function runCreate(context: CommandContext, { store: wanted, verify, output }: CreateOptions): Promise<number> {
  const { out, random, signal } = context
  const api = await context.api()
  const store = storeOf(await readPolicy(api, signal), wanted)
  const demand: BackupDemand = { request: random.uuid(), store, ...(verify && { verify }) }
  const text = JSON.stringify(demand)
  const body = { metadata: { annotations: { [backupAnnotation]: text } } }
  await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
  const made = await withActivity(context, 'waiting for the operator', (activity) =>
    outcomeOf(context, { request: demand.request, store, text }, activity),
  )
  if (output !== 'table') await writeValue(context, output, { store, ...made })
  else
    out.write(
      `${made.location}: ${sizeText(made.bytes)}, etcd revision ${revisionOf(made)}, checked by ${made.verified}\n`,
    )
  return exitCode.done
}

/** Only a restore reads it; otherwise it is what etcd said when the snapshot began. */
function revisionOf({ revision, verified }: Made): string {
  return verified === 'Restore' ? `${revision} or later` : `${revision} or later (as etcd said)`
}

function storeOf(policy: MaintenancePolicy | undefined, wanted: string | undefined): string {
  const names = (policy?.spec.backupStores ?? []).map(({ name }) => name)
  const [first] = names
  if (first === undefined) {
    throw new SlipwayError('BackupStoreMissing', 'MaintenancePolicy/default names no store for backups', {
      nextStep: 'add one to spec.backupStores: kubectl edit maintenancepolicy default',
    })
  }
  if (wanted !== undefined && !names.includes(wanted)) {
    throw new SlipwayError('NotFound', `there is no backup store named ${wanted}`, {
      nextStep: `MaintenancePolicy/default has ${names.join(', ')}`,
    })
  }
  return wanted ?? first
}

function outcomeOf(context: CommandContext, { request, store, text }: Asked, activity: Activity): Promise<Made> {
  const say = tellerOf(context, activity)
  const subject = `asked ${request}`
  return awaitAnswer<MaintenancePolicy, Made>(context, {
    type: maintenancePolicies,
    name: policyName,
    look: (policy) => {
      const record = policy?.status?.backups?.find((entry) => entry.store === store)
      if (record?.lastSuccess?.subject === subject) return { heard: 'answer', answer: record.lastSuccess }
      if (record?.lastFailure?.subject === subject) return { heard: 'failure', error: failed(record.lastFailure) }
      if (record?.run?.subject === subject) {
        say(progressOf(record.run))
        return { heard: 'taken-up' }
      }
      const isAsked = policy?.metadata.annotations?.[backupAnnotation] === text
      const isStore = policy?.spec.backupStores?.some(({ name }) => name === store) ?? false
      if (!isAsked || !isStore || record?.asked === request) return { heard: 'failure', error: lost(store) }
      if (!record?.run) return { heard: 'nothing' }
      say(`waits for another backup of ${store} (${record.run.subject}): ${progressOf(record.run)}`)
      return { heard: 'taken-up' }
    },
    late: notTakenUp,
    stopped: 'stopped; the backup is made all the same',
  })
}

function progressOf({ node, failures }: BackupRun): string {
  const last = failures.at(-1)
  if (node !== undefined) return `${node} makes it`
  if (last) return `${last.node} could not: ${last.reason.message}; it is tried again`
  return 'waits for a host that can make it (Events of MaintenancePolicy/default say why)'
}

function notTakenUp(): SlipwayError {
  return new SlipwayError('Refused', 'no operator has taken the request up within a minute', {
    nextStep: 'is one running? kubectl -n slipway-system get pods,leases',
  })
}

/** Taken up while nobody looked, or never: what came in between has overwritten it. */
function lost(store: string): SlipwayError {
  const message = `the request is no longer on record: another one came, the store ${store} left the policy, or the policy was made anew`
  return new SlipwayError('Refused', message, {
    nextStep: 'look whether it was made: slipway backup list; if not, ask again',
  })
}

function failed({ reason }: NonNullable<StoreRecord['lastFailure']>): SlipwayError {
  return new SlipwayError(reason.code, reason.message, { nextStep: 'put that right, then ask again' })
}
