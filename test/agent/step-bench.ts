import type { Staging } from '../../src/agent/drivers/driver.ts'
import { folderContent, folderNotes } from '../../src/agent/journal/notes.ts'
import type { Order } from '../../src/api/node-state.ts'
import type { Command, CommandResult } from '../../src/ports/host.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { MemoryDisk } from '../fakes/memory-disk.ts'
import { RecordingLog } from '../fakes/recording-log.ts'
import { FakeHost } from './fake-host.ts'
import { OneNodeCluster } from './one-node-cluster.ts'

/** One driver's steps on a host in memory, whose programs answer what was recorded from the real ones. */
export class StepBench {
  readonly clock = new ManualClock()
  readonly host = new FakeHost(new MemoryDisk(), this.clock)
  readonly log = new RecordingLog()
  readonly warnings: string[] = []
  /** Every command that was run, its words joined. */
  readonly ran: string[] = []
  readonly signal = new AbortController().signal

  readonly #order: Order
  readonly #api = new OneNodeCluster().api

  constructor(order: Order) {
    this.#order = order
  }

  /** Of the agent's present life: its notes are those on the disk. */
  get context(): Staging {
    const { host, log } = this
    return {
      host,
      order: this.#order,
      nodeName: 'node1',
      log,
      notes: folderNotes(host.disk, '/var/lib/slipway/orders/one/notes'),
      content: folderContent(host.disk, '/var/lib/slipway/orders/one/content'),
      stagingFolder: '/var/lib/slipway/orders/one/staging',
      begunInBoot: undefined,
      warn: (message) => {
        if (!this.warnings.includes(message)) this.warnings.push(message)
        return Promise.resolve()
      },
      api: this.#api,
    }
  }

  /** The first recorded answer whose words the command has; anything else is a program that is not there. */
  answers(
    recorded: Readonly<Record<string, string | Partial<CommandResult> | (() => string | Partial<CommandResult>)>>,
  ): void {
    const answer = ({ argv }: Pick<Command, 'argv'>): CommandResult => {
      const words = argv.join(' ')
      this.ran.push(words)
      const found = Object.entries(recorded).find(([part]) => words.includes(part))?.[1]
      const recordedAnswer = typeof found === 'function' ? found() : found
      if (recordedAnswer === undefined) return { exitCode: 127, stdout: '', stderr: `${argv[0]}: not found` }
      return {
        exitCode: 0,
        stdout: '',
        stderr: '',
        ...(typeof recordedAnswer === 'string' ? { stdout: recordedAnswer } : recordedAnswer),
      }
    }
    this.host.answer = answer
    this.host.behave = (job) => {
      const { exitCode, stdout, stderr } = answer(job)
      return { ms: 0, exitCode, output: `${stdout}${stderr}` }
    }
  }

  async put(path: string, content: string): Promise<void> {
    await this.host.files.write(path, content, { mode: 0o600, owner: 'root', group: 'root' })
  }
}
