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
  readonly host = new FakeHost(new MemoryDisk(), new ManualClock())
  readonly log = new RecordingLog()
  readonly warnings: string[] = []
  /** Every command that was run, its words joined. */
  readonly ran: string[] = []
  readonly context: Staging
  readonly signal = new AbortController().signal

  constructor(order: Order) {
    const { host, log } = this
    this.context = {
      host,
      order,
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
      api: new OneNodeCluster().api,
    }
  }

  /** The first recorded answer whose words the command has; anything else is a program that is not there. */
  answers(
    recorded: Readonly<Record<string, string | Partial<CommandResult> | (() => string | Partial<CommandResult>)>>,
  ): void {
    this.host.answer = ({ argv }: Command) => {
      const words = argv.join(' ')
      this.ran.push(words)
      const found = Object.entries(recorded).find(([part]) => words.includes(part))?.[1]
      const answer = typeof found === 'function' ? found() : found
      if (answer === undefined) return { exitCode: 127, stdout: '', stderr: `${argv[0]}: not found` }
      return { exitCode: 0, stdout: '', stderr: '', ...(typeof answer === 'string' ? { stdout: answer } : answer) }
    }
  }

  async put(path: string, content: string): Promise<void> {
    await this.host.files.write(path, content, { mode: 0o600, owner: 'root', group: 'root' })
  }
}
