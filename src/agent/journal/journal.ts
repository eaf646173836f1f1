// The agent's memory on the host's disk: `<stateDir>/agent.json` and one folder an order.

import { type AgentRecord, agentRecordSchema } from '../../api/journal.ts'
import type { Order } from '../../api/node-state.ts'
import type { Disk } from '../../ports/disk.ts'
import { folderName, hasEnded, OrderFolder } from './order-folder.ts'
import { corrupt, readSealed, seal, temporarySuffix, writeAtomically } from './sealed-file.ts'

export const agentFile = 'agent.json'

export class Journal {
  readonly #disk: Disk
  readonly #stateDir: string
  #record: AgentRecord

  private constructor(disk: Disk, stateDir: string, record: AgentRecord) {
    this.#disk = disk
    this.#stateDir = stateDir
    this.#record = record
  }

  /** Throws JournalCorrupt when agent.json is damaged: without the highest epoch no order can be judged. */
  static async open(disk: Disk, stateDir: string): Promise<Journal> {
    await disk.makeFolder(`${stateDir}/orders`)
    for (const folder of ancestors(`${stateDir}/orders`)) await disk.syncFolder(folder)
    for (const name of await disk.names(stateDir)) {
      if (name.endsWith(temporarySuffix)) await disk.remove(`${stateDir}/${name}`)
    }
    const record = await readSealed(disk, `${stateDir}/${agentFile}`, agentRecordSchema)
    return new Journal(disk, stateDir, record ?? { epoch: 0, nodeUID: '' })
  }

  get record(): AgentRecord {
    return this.#record
  }

  /** Never lets the epoch go back. */
  async remember(record: AgentRecord): Promise<void> {
    const next = { ...record, epoch: Math.max(record.epoch, this.#record.epoch) }
    if (next.epoch === this.#record.epoch && next.nodeUID === this.#record.nodeUID) return
    await writeAtomically(this.#disk, this.#stateDir, agentFile, seal(next))
    this.#record = next
  }

  /** Orders that were accepted and have no end yet: at most one, unless the power failed in between. */
  async unended(): Promise<readonly OrderFolder[]> {
    const open: OrderFolder[] = []
    for (const name of await this.#disk.names(`${this.#stateDir}/orders`)) {
      const path = `${this.#stateDir}/orders/${name}`
      if (hasEnded(await this.#disk.names(path))) continue
      const folder = await OrderFolder.load(this.#disk, path)
      if (folder) open.push(folder)
    }
    return open
  }

  async find(orderId: string): Promise<OrderFolder | undefined> {
    const path = this.#path(orderId)
    const folder = await OrderFolder.load(this.#disk, path)
    if (folder && folder.accepted.order.id !== orderId) {
      throw corrupt(`${path}/order.json`, `is of another order, ${folder.accepted.order.id}`)
    }
    return folder
  }

  create(
    order: Order,
    { steps, undo }: { readonly steps: readonly string[]; readonly undo: readonly string[] },
    acceptedAt: Date,
  ): Promise<OrderFolder> {
    return OrderFolder.create(this.#disk, this.#path(order.id), {
      acceptedAt: acceptedAt.toISOString(),
      steps: [...steps],
      ...(undo.length > 0 && { undo: [...undo] }),
      order,
    })
  }

  #path(orderId: string): string {
    return `${this.#stateDir}/orders/${folderName(orderId)}`
  }
}

/** `/`, `/var`, `/var/lib`, …: a folder outlives a power loss only if its name in each folder above it does. */
function ancestors(path: string): readonly string[] {
  const parts = path.split('/').slice(1, -1)
  return ['/', ...parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)]
}
