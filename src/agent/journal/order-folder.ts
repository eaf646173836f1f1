// One order on the host's disk. The folder is the truth: what is in memory is what was synced, so after any crash or power
// loss the order goes on exactly from here.

import {
  type AcceptedOrder,
  acceptedOrderSchema,
  type Failure,
  failureSchema,
  type OrderEnd,
  orderEndSchema,
  type Released,
  releasedSchema,
  type StepDone,
  type StepStart,
  stepDoneSchema,
  stepStartSchema,
  warningsSchema,
} from '../../api/journal.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import type { Disk } from '../../ports/disk.ts'
import {
  corrupt,
  readSealed,
  type Schema,
  seal,
  sha256,
  temporarySuffix,
  unsealWithFormat,
  writeAtomically,
} from './sealed-file.ts'
import { takeOver } from './take-over.ts'

/** `begun` without `done` = in progress, or cut off while it was. */
export interface StepRecord {
  readonly begun?: StepStart
  readonly done?: StepDone
}

/** The states that are the agent's last word, each with the name of the file that says so. */
const endFiles = {
  Succeeded: 'completed',
  Failed: 'failed',
  Withdrawn: 'withdrawn',
  Refused: 'refused',
} as const

export type EndState = keyof typeof endFiles

export const orderFile = 'order.json'
const releasedFile = 'released'
const failureFile = 'failure'
const warningsFile = 'warnings'
const contentFolder = 'content'
const noteFolder = 'notes'
export const stagingFolder = 'staging'
export const logFolder = 'logs'
/** What is a folder in an order's own. */
export const orderFolders: readonly string[] = [contentFolder, noteFolder, stagingFolder, logFolder]
const maxWarnings = 16
const stepFile = /^step-([0-9]{2})-(.+)\.(inprogress|done)$/

/** A name that is safe for a file and still readable; the id itself stands in order.json. */
export function folderName(orderId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(orderId) && !orderId.endsWith(temporarySuffix)) return orderId
  return `${orderId.replace(/[^A-Za-z0-9-]/g, '_').slice(0, 80)}~${sha256(orderId).slice(0, 16)}`
}

export function hasEnded(names: readonly string[]): boolean {
  return names.some(isEndFile)
}

export function isEndFile(name: string): boolean {
  return Object.values<string>(endFiles).includes(name)
}

export class OrderFolder {
  readonly path: string
  readonly #disk: Disk
  #accepted: AcceptedOrder
  #steps: StepRecord[]
  #state: Progress

  private constructor(disk: Disk, path: string, accepted: AcceptedOrder, steps: StepRecord[], state: Progress) {
    this.#disk = disk
    this.path = path
    this.#accepted = accepted
    this.#steps = steps
    this.#state = state
  }

  /** Undefined where no order was ever accepted: an empty folder, or one cut off before its order.json was whole. */
  static async load(disk: Disk, path: string): Promise<OrderFolder | undefined> {
    const names = await withoutTemporary(disk, path)
    const text = await disk.read(`${path}/${orderFile}`)
    if (text === undefined) {
      const orphan = names.find((name) => stepFile.test(name) || hasEnded([name]))
      if (orphan !== undefined) throw corrupt(`${path}/${orderFile}`, `is missing, but ${orphan} is there`)
      return undefined
    }
    const { content: accepted, format } = unsealWithFormat(`${path}/${orderFile}`, text, acceptedOrderSchema)
    await takeOver(disk, path, names, format, () => writeAtomically(disk, path, orderFile, seal(accepted)))
    const all = stepNames(accepted)
    const steps: StepRecord[] = all.map(() => ({}))
    for (const name of names) {
      const match = stepFile.exec(name)
      if (!match) continue
      const index = Number(match[1]) - 1
      const step = steps[index]
      if (!step || all[index] !== match[2]) throw corrupt(`${path}/${name}`, 'is no step of this order')
      steps[index] =
        match[3] === 'done'
          ? { ...step, done: await mustRead(disk, `${path}/${name}`, stepDoneSchema) }
          : { ...step, begun: await mustRead(disk, `${path}/${name}`, stepStartSchema) }
    }
    const warnings = await readSealed(disk, `${path}/${warningsFile}`, warningsSchema)
    return new OrderFolder(disk, path, accepted, steps, {
      released: await readSealed(disk, `${path}/${releasedFile}`, releasedSchema),
      failure: await readSealed(disk, `${path}/${failureFile}`, failureSchema),
      warnings: warnings?.warnings ?? [],
      end: await loadEnd(disk, path, names, accepted.order.id),
    })
  }

  static async create(disk: Disk, path: string, accepted: AcceptedOrder): Promise<OrderFolder> {
    await disk.makeFolder(path)
    await disk.syncFolder(path.slice(0, path.lastIndexOf('/')))
    await writeAtomically(disk, path, orderFile, seal(accepted))
    const steps = stepNames(accepted).map(() => ({}))
    return new OrderFolder(disk, path, accepted, steps, { warnings: [] })
  }

  get accepted(): AcceptedOrder {
    return this.#accepted
  }

  /** Of all steps: first those that do the work, then those that take it back. */
  get names(): readonly string[] {
    return stepNames(this.#accepted)
  }

  get steps(): readonly StepRecord[] {
    return this.#steps
  }

  get end(): OrderEnd | undefined {
    return this.#state.end
  }

  /** Since when it may run; undefined while it only stages. */
  get released(): Released | undefined {
    const { order, acceptedAt } = this.accepted
    return this.#state.released ?? (order.desired === 'Run' ? { at: acceptedAt } : undefined)
  }

  /** The step that failed for good. */
  get failure(): Failure | undefined {
    return this.#state.failure
  }

  get warnings(): readonly string[] {
    return this.#state.warnings
  }

  get contentFolder(): string {
    return `${this.path}/${contentFolder}`
  }

  get noteFolder(): string {
    return `${this.path}/${noteFolder}`
  }

  get stagingFolder(): string {
    return `${this.path}/${stagingFolder}`
  }

  /** Gives it other steps. Only while none has begun: what is on the disk of a step goes by its number. */
  async resettle({
    steps,
    undo,
  }: {
    readonly steps: readonly string[]
    readonly undo: readonly string[]
  }): Promise<void> {
    const { undo: _, ...kept } = this.#accepted
    const accepted = { ...kept, steps: [...steps], ...(undo.length > 0 && { undo: [...undo] }) }
    await writeAtomically(this.#disk, this.path, orderFile, seal(accepted))
    this.#accepted = accepted
    this.#steps = stepNames(accepted).map(() => ({}))
  }

  async release(at: Date): Promise<void> {
    if (this.released) return
    const released = { at: at.toISOString() }
    await writeAtomically(this.#disk, this.path, releasedFile, seal(released))
    this.#state = { ...this.#state, released }
  }

  async fail(failure: Failure): Promise<void> {
    await writeAtomically(this.#disk, this.path, failureFile, seal(failure))
    this.#state = { ...this.#state, failure }
  }

  async warn(message: string): Promise<void> {
    const text = message.slice(0, 512)
    if (this.warnings.includes(text) || this.warnings.length >= maxWarnings) return
    const warnings = [...this.warnings, text]
    await writeAtomically(this.#disk, this.path, warningsFile, seal({ warnings }))
    this.#state = { ...this.#state, warnings }
  }

  /** Where the output and the exit code of one start of a step go; each start has its own, so no result is taken for another's. */
  pathsOf(index: number, start: number): { readonly log: string; readonly result: string } {
    const stem = `${this.path}/${logFolder}/${this.#stem(index)}.${start}`
    return { log: `${stem}.log`, result: `${stem}.exit` }
  }

  /** Before the first start: where output and exit codes go must be there. */
  async makeLogFolder(): Promise<void> {
    await this.#disk.makeFolder(`${this.path}/${logFolder}`)
  }

  async begin(index: number, start: StepStart): Promise<void> {
    await writeAtomically(this.#disk, this.path, `${this.#stem(index)}.inprogress`, seal(start))
    this.#steps[index] = { begun: start }
  }

  async finish(index: number, done: StepDone): Promise<void> {
    await writeAtomically(this.#disk, this.path, `${this.#stem(index)}.done`, seal(done))
    // `.done` overrules an `.inprogress` that a power loss brings back, so removing it needs no sync.
    if (this.#steps[index]?.begun) await this.#disk.remove(`${this.path}/${this.#stem(index)}.inprogress`)
    this.#steps[index] = { done }
  }

  /** What was done is not there any more. Not synced: should `.done` come back after lost power, it is looked at again. */
  async reopen(index: number): Promise<void> {
    await this.#disk.remove(`${this.path}/${this.#stem(index)}.done`)
    this.#steps[index] = {}
  }

  async close(state: EndState, report: AgentOrder): Promise<void> {
    const end = { report }
    await writeAtomically(this.#disk, this.path, endFiles[state], seal(end))
    this.#state = { ...this.#state, end }
    // What was downloaded is of no more use; the journal and the logs stay.
    await this.#disk.removeFolder(this.stagingFolder)
  }

  #stem(index: number): string {
    return `step-${String(index + 1).padStart(2, '0')}-${this.names[index] ?? 'unknown'}`
  }
}

interface Progress {
  readonly released?: Released | undefined
  readonly failure?: Failure | undefined
  readonly warnings: readonly string[]
  readonly end?: OrderEnd | undefined
}

function stepNames({ steps, undo }: AcceptedOrder): readonly string[] {
  return [...steps, ...(undo ?? [])]
}

async function withoutTemporary(disk: Disk, path: string): Promise<readonly string[]> {
  const kept: string[] = []
  for (const name of await disk.names(path)) {
    if (name.endsWith(temporarySuffix)) await disk.remove(`${path}/${name}`)
    else kept.push(name)
  }
  return kept
}

async function loadEnd(
  disk: Disk,
  path: string,
  names: readonly string[],
  orderId: string,
): Promise<OrderEnd | undefined> {
  const files = Object.values(endFiles).filter((name) => names.includes(name))
  const [file, other] = files
  if (file === undefined) return undefined
  if (other !== undefined) throw corrupt(`${path}/${other}`, `contradicts ${file}`)
  const end = await mustRead(disk, `${path}/${file}`, orderEndSchema)
  if (end.report.id !== orderId) throw corrupt(`${path}/${file}`, `is of another order, ${end.report.id}`)
  return end
}

async function mustRead<T>(disk: Disk, path: string, schema: Schema<T>): Promise<T> {
  const content = await readSealed(disk, path, schema)
  if (content === undefined) throw corrupt(path, 'vanished while it was read')
  return content
}
