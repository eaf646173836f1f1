// One order on the host's disk. The folder is the truth: what is in memory is what was synced, so after any crash or power
// loss the order goes on exactly from here.

import {
  type AcceptedOrder,
  acceptedOrderSchema,
  type OrderEnd,
  orderEndSchema,
  type StepDone,
  type StepStart,
  stepDoneSchema,
  stepStartSchema,
} from '../../api/journal.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import type { Disk } from '../../ports/disk.ts'
import { corrupt, readSealed, type Schema, seal, sha256, temporarySuffix, writeAtomically } from './sealed-file.ts'

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

const orderFile = 'order.json'
const contentFile = 'content'
const logFolder = 'logs'
const stepFile = /^step-([0-9]{2})-(.+)\.(inprogress|done)$/

/** A name that is safe for a file and still readable; the id itself stands in order.json. */
export function folderName(orderId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(orderId) && !orderId.endsWith(temporarySuffix)) return orderId
  return `${orderId.replace(/[^A-Za-z0-9-]/g, '_').slice(0, 80)}~${sha256(orderId).slice(0, 16)}`
}

export function hasEnded(names: readonly string[]): boolean {
  return Object.values(endFiles).some((name) => names.includes(name))
}

export class OrderFolder {
  readonly path: string
  readonly accepted: AcceptedOrder
  readonly #disk: Disk
  readonly #steps: StepRecord[]
  #end: OrderEnd | undefined

  private constructor(disk: Disk, path: string, accepted: AcceptedOrder, steps: StepRecord[], end?: OrderEnd) {
    this.#disk = disk
    this.path = path
    this.accepted = accepted
    this.#steps = steps
    this.#end = end
  }

  /** Undefined where no order was ever accepted: an empty folder, or one cut off before its order.json was whole. */
  static async load(disk: Disk, path: string): Promise<OrderFolder | undefined> {
    const names = await withoutTemporary(disk, path)
    const accepted = await readSealed(disk, `${path}/${orderFile}`, acceptedOrderSchema)
    if (accepted === undefined) {
      const orphan = names.find((name) => stepFile.test(name) || hasEnded([name]))
      if (orphan !== undefined) throw corrupt(`${path}/${orderFile}`, `is missing, but ${orphan} is there`)
      return undefined
    }
    const steps: StepRecord[] = accepted.steps.map(() => ({}))
    for (const name of names) {
      const match = stepFile.exec(name)
      if (!match) continue
      const index = Number(match[1]) - 1
      const step = steps[index]
      if (!step || accepted.steps[index] !== match[2]) throw corrupt(`${path}/${name}`, 'is no step of this order')
      steps[index] =
        match[3] === 'done'
          ? { ...step, done: await mustRead(disk, `${path}/${name}`, stepDoneSchema) }
          : { ...step, begun: await mustRead(disk, `${path}/${name}`, stepStartSchema) }
    }
    return new OrderFolder(disk, path, accepted, steps, await loadEnd(disk, path, names, accepted.order.id))
  }

  static async create(disk: Disk, path: string, accepted: AcceptedOrder): Promise<OrderFolder> {
    await disk.makeFolder(path)
    await disk.syncFolder(path.slice(0, path.lastIndexOf('/')))
    await writeAtomically(disk, path, orderFile, seal(accepted))
    return new OrderFolder(
      disk,
      path,
      accepted,
      accepted.steps.map(() => ({})),
    )
  }

  get steps(): readonly StepRecord[] {
    return this.#steps
  }

  get end(): OrderEnd | undefined {
    return this.#end
  }

  get contentPath(): string {
    return `${this.path}/${contentFile}`
  }

  /** Content fetched for the steps; checked against its SHA-256 whenever it is read back. */
  async keepContent(content: string): Promise<void> {
    await writeAtomically(this.#disk, this.path, contentFile, content, 0o700)
  }

  /** True when it is there and whole; damaged content is JournalCorrupt, never fetched over in silence. */
  async hasContent(expectedSha256: string): Promise<boolean> {
    const content = await this.#disk.read(this.contentPath)
    if (content === undefined) return false
    if (sha256(content) !== expectedSha256) throw corrupt(this.contentPath, 'does not have the SHA-256 the order names')
    return true
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

  async close(state: EndState, report: AgentOrder): Promise<void> {
    const end = { report }
    await writeAtomically(this.#disk, this.path, endFiles[state], seal(end))
    this.#end = end
  }

  #stem(index: number): string {
    return `step-${String(index + 1).padStart(2, '0')}-${this.accepted.steps[index] ?? 'unknown'}`
  }
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
