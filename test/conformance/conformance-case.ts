// What a driver brings to the conformance suite: a file in cases/ that exports `conformanceCase`.

import type { Driver } from '../../src/agent/drivers/driver.ts'
import { sha256 } from '../../src/agent/journal/sealed-file.ts'
import type { AgentOrder, Order } from '../../src/api/node-state.ts'
import type { Content } from '../../src/api/work.ts'
import type { Bed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'

export interface ConformanceCase {
  /** Its row in docs/reference/drivers.md: the driver's name, and what it is tried with where there are several. */
  readonly name: string
  readonly driver: Driver
  /** Without which the agent would refuse the order, where the driver's work only goes along with that of others. */
  readonly beside?: readonly Driver[]
  /** The command line the driver works through, and what makes it tell its version; absent where it needs none. */
  readonly tool?: { readonly name: string; readonly version: readonly string[] }
  /** Content the order names by its SHA-256; see `contentOf`. */
  readonly contents?: readonly string[]
  /** Of its power losses; 1, 2 and 3 if not said, one where a run takes minutes. */
  readonly seeds?: readonly number[]
  /** Why a second order of the same work runs it again; absent = it must start nothing. */
  readonly runsAgain?: string
  /** Why undo leaves the work as it is, and the machine is as good as before; absent = it must be taken back. */
  readonly staysDone?: string
  /** Not a driver of the product; it has no row. */
  readonly isSample?: boolean
  /** A booted machine on which the work is still to be done; asked for once for each property. */
  setUp(bed: Bed): Promise<Machine>
  /** What is asked for; the rest of the order is the suite's. */
  order(machine: Machine): Promise<Partial<Order> & Pick<Order, 'work'>>
  /** Whether the work is done, looked at without the driver. */
  isDone(machine: Machine): Promise<boolean>
  /** Its tool keeps the work only at an orderly shutdown: power lost after it was done takes it back, and it must be done again. */
  readonly isKeptAtShutdown?: boolean
  /** Further expectations after each way to the end, of the machine and of what its agent reported; throws what is wrong. */
  check?(machine: Machine, report: AgentOrder): Promise<void>
}

/** How an order names content that the case lists. */
export function contentOf(text: string): Content {
  const hash = sha256(text)
  return { configMap: `content-${hash.slice(0, 12)}`, namespace: 'slipway-system', sha256: hash }
}

export async function loadCase(file: string): Promise<ConformanceCase> {
  const module: unknown = await import(new URL(`cases/${file}`, import.meta.url).href)
  return (module as { readonly conformanceCase: ConformanceCase }).conformanceCase
}
