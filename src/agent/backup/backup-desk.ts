// Answers the operator's question for a backup (spec.backup) in the status: Running, then how it ended. The last answer also lies on the
// host, written before it is told: a question is carried out once, whenever the agent dies.

import {
  type BackupAnswer,
  type BackupRequest,
  type BackupSecrets,
  backupSecretsSchema,
  type KeptStore,
} from '../../api/backup.ts'
import { backupAbility } from '../../api/backup-plan.ts'
import type { SealedText } from '../../api/sealed-text.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { parseDuration } from '../../core/duration.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Bell } from '../bell.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import { keepAnswer, readAnswer } from './backup-record.ts'
import { type BackupResult, type BackupTools, makeBackup, reasonOf } from './make-backup.ts'
import { StoreNote } from './store-note.ts'

export type BackupDeskTools = Omit<BackupTools, 'host' | 'clock' | 'log' | 'nodeName'> & {
  /** Opens what was sealed to this host. */
  readonly unseal: (sealed: SealedText) => Promise<string>
}

/** With the note it leaves for a restore. */
type DeskTools = BackupDeskTools & { readonly note: StoreNote }

interface UnderWay {
  readonly request: string
  readonly stop: LinkedAbort
  readonly ended: Promise<void>
}

export function backupDesk(tools: BackupDeskTools): SideTask {
  return {
    name: backupAbility,
    run: async (context, signal) => {
      const { store, nodeName, publisher } = context
      const bell = new Bell()
      const note = new StoreNote(context)
      const unsubscribe = store.subscribe(() => bell.ring())
      let answered: string | undefined
      let work: UnderWay | undefined
      try {
        await note.find()
        for (;;) {
          const state = store.get(nodeName)
          const question = state?.spec.backup
          if (work && work.request !== question?.request) {
            await withdraw(work)
            work = undefined
          }
          if (question && question.request !== work?.request && question.request !== answered) {
            const known = await knownAnswer(context, question.request)
            if (known) publisher.publish({ backup: known })
            else work = begin({ ...tools, note }, context, question, signal)
          } else if (state && !question) publisher.publish({ backup: undefined })
          if (work) answered = work.request
          else answered = question?.request
          await note.forget(state?.spec.forgetStore)
          await bell.heard(signal)
        }
      } finally {
        unsubscribe()
        if (work) await withdraw(work)
      }
    },
  }
}

/** Returns when all of it was cleared up. */
async function withdraw({ stop, ended }: UnderWay): Promise<void> {
  stop.abort(new SlipwayError('Stopped', 'nobody asks for the backup any more'))
  await ended
}

/** By the host's own record, or by the status: a new disk knows of nothing. */
async function knownAnswer(
  { host, stateDir, store, nodeName, log }: SideTaskContext,
  request: string,
): Promise<BackupAnswer | undefined> {
  const told = store.get(nodeName)?.status?.agent?.backup
  const kept = await readAnswer(host.disk, stateDir).catch((error: unknown) => {
    // Making a backup again does no harm; making none would.
    log.warn('the record of the last backup cannot be read', { error: String(error) })
    return undefined
  })
  return [kept, told].find((answer) => answer?.request === request && answer.state !== 'Running')
}

function begin(tools: DeskTools, context: SideTaskContext, question: BackupRequest, signal: AbortSignal): UnderWay {
  const stop = new LinkedAbort(signal)
  return { request: question.request, stop, ended: answer(tools, context, question, stop) }
}

/** Never throws: how it ended is its answer, and one that was withdrawn has none. */
async function answer(
  tools: DeskTools,
  context: SideTaskContext,
  question: BackupRequest,
  stop: LinkedAbort,
): Promise<void> {
  const { clock, publisher, log, host, stateDir } = context
  const { request, timeout, store } = question
  const begun = { request, store: store.name, startedAt: clock.now().toISOString() }
  publisher.publish({ backup: { ...begun, state: 'Running' } })
  log.info('a backup begins', { request, store: store.name, name: question.name })
  const timedOut = new SlipwayError('BackupTimedOut', `the backup ${question.name} took longer than ${timeout}`)
  const cancel = clock.after(parseDuration(timeout), () => stop.abort(timedOut))
  const outcome = await carriedOut(tools, context, question, stop.signal)
  cancel()
  const wasWithdrawn = stop.signal.aborted && stop.signal.reason !== timedOut
  if (wasWithdrawn) {
    log.info('a backup was given up', { request })
    return
  }
  const end: BackupAnswer = { ...begun, ...outcome, finishedAt: clock.now().toISOString() }
  if (end.state === 'Succeeded') log.info('a backup is made', { request, location: end.location })
  else log.warn('a backup failed', { request, code: end.reason?.code, error: end.reason?.message })
  await keepAnswer(host.disk, stateDir, end).catch((error: unknown) => {
    // The status has it too.
    log.warn('the record of the last backup cannot be written', { error: String(error) })
  })
  publisher.publish({ backup: end })
}

async function carriedOut(
  tools: DeskTools,
  context: SideTaskContext,
  question: BackupRequest,
  signal: AbortSignal,
): Promise<Pick<BackupAnswer, 'state' | 'reason'> & Partial<BackupResult>> {
  const { host, clock, log, nodeName } = context
  try {
    const secrets = await secretsOf(tools, question)
    const result = await makeBackup({ ...tools, host, clock, log, nodeName }, question, secrets, signal)
    const kept = { at: clock.now().toISOString(), store: question.store, secrets, manifest: result.manifest }
    const unkept = await keptForLater(tools.note, kept)
    return { state: 'Succeeded', ...result, ...unkept }
  } catch (error) {
    return { state: 'Failed', reason: reasonOf(signal.aborted ? signal.reason : error) }
  }
}

/** The backup is good without it, but a person must know before the day comes. */
async function keptForLater(note: StoreNote, kept: KeptStore): Promise<Pick<BackupAnswer, 'reason'>> {
  try {
    await note.keep(kept)
    return {}
  } catch (error) {
    const { code, message } = reasonOf(error)
    const words = `the backup is made; where it lies could not be noted on the host, for a restore without the API: ${message}`
    return { reason: { code, message: words.slice(0, 4096) } }
  }
}

async function secretsOf({ unseal }: BackupDeskTools, { sealed }: BackupRequest): Promise<BackupSecrets> {
  if (!sealed) return {}
  const parsed = backupSecretsSchema.safeParse(jsonOf(await unseal(sealed)))
  if (parsed.success) return parsed.data
  // Never quoted: it is secret.
  throw new SlipwayError('SecretUnreadable', 'the values sealed for the backup do not have the shape they should', {
    nextStep: 'look at the keys of the Secrets that the backup store names',
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
