// A restore from its plan to its end. What was begun and done is on the disk before and after each step, so that one that was cut off
// anywhere goes on where it stopped.

import { type RestoreRecord, restoreRecordSchema } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { canUndo, mayHaveMajority, nextStep } from '../../core/restore/restore-plan.ts'
import { readSealed, seal, writeAtomically } from '../journal/sealed-file.ts'
import { hasMajority, perform, putBack, type RestoreTools } from './restore-steps.ts'

export const restoreRecordFile = 'record.json'

export class RestoreRun {
  readonly #tools: RestoreTools
  readonly #folder: string

  /** `folder`: of its own within the state folder. */
  constructor(tools: RestoreTools, folder: string) {
    this.#tools = tools
    this.#folder = folder
  }

  /** The restore that is not finished; undefined where there is none. */
  async pending(): Promise<RestoreRecord | undefined> {
    return readSealed(this.#tools.host.disk, this.#path, restoreRecordSchema)
  }

  /** Those that came to an end here, or were undone; one that cannot be read is nothing to go by. */
  async past(): Promise<readonly RestoreRecord[]> {
    const { disk } = this.#tools.host
    const names = (await disk.names(this.#folder)).filter((name) => /-(done|undone)\.json$/.test(name))
    const read = names.map((name) =>
      readSealed(disk, `${this.#folder}/${name}`, restoreRecordSchema).catch(() => undefined),
    )
    return (await Promise.all(read)).flatMap((record) => record ?? [])
  }

  /** Carries out what is left of it. */
  async carryOut(plan: RestoreRecord, signal: AbortSignal): Promise<void> {
    if (plan.undoing) {
      throw new SlipwayError('Refused', 'this restore is being undone: it cannot go on any more', {
        nextStep: 'run slipway backup restore --undo to its end, then begin anew',
      })
    }
    let record = plan
    const { tell } = this.#tools
    for (let step = nextStep(record); step; step = nextStep(record)) {
      record = { ...record, begun: [...new Set([...record.begun, step])] }
      await this.#keep(record)
      tell(`${step}…`)
      await perform[step](record, this.#tools, signal)
      record = { ...record, done: [...record.done, step] }
      await this.#keep(record)
    }
    await this.#close(record, 'done')
  }

  /** Puts back what was there; refused once etcd has a majority with the restored data. */
  async undo(pending: RestoreRecord, signal: AbortSignal): Promise<void> {
    const record = await this.#withMajority(pending, signal)
    if (!canUndo(record)) {
      throw new SlipwayError(
        'Refused',
        'etcd runs with the restored data, and a majority has agreed to it: it cannot be undone any more',
        {
          nextStep: `go on with slipway backup restore; the data of before is in ${record.aside}`,
        },
      )
    }
    // Cut off in between, what lies in the data folder may be of before: a start with it is no restore.
    await this.#keep({ ...record, undoing: true })
    await putBack(record, this.#tools, signal)
    await this.#close(record, 'undone')
  }

  /** One that has formed since nobody waited any more counts as if it had been waited for. */
  async #withMajority(record: RestoreRecord, signal: AbortSignal): Promise<RestoreRecord> {
    if (!mayHaveMajority(record) || !(await hasMajority(record, this.#tools, signal))) return record
    const seen: RestoreRecord = { ...record, done: [...record.done, 'StartEtcd'] }
    await this.#keep(seen)
    return seen
  }

  async #keep(record: RestoreRecord): Promise<void> {
    const { disk } = this.#tools.host
    await disk.makeFolder(this.#folder)
    await writeAtomically(disk, this.#folder, restoreRecordFile, seal(record))
  }

  /** What was done stays readable; the snapshot goes: it is in its store. It goes first, since nobody looks for it after the end. */
  async #close({ startedAt, snapshot }: RestoreRecord, end: 'done' | 'undone'): Promise<void> {
    const { disk } = this.#tools.host
    await this.#drop(snapshot)
    await disk.rename(this.#path, `${this.#folder}/${startedAt.replace(/[-:]|\.\d+/g, '')}-${end}.json`)
    await disk.syncFolder(this.#folder)
  }

  /** All of etcd in clear. It may be gone already: whoever was cut off at the end comes here again. */
  async #drop(snapshot: string): Promise<void> {
    const { disk } = this.#tools.host
    if (!snapshot.startsWith(`${this.#folder}/`) || (await disk.bytes(snapshot)) === undefined) return
    await disk.remove(snapshot)
    await disk.syncFolder(this.#folder)
  }

  get #path(): string {
    return `${this.#folder}/${restoreRecordFile}`
  }
}
