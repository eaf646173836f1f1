// Maintenance asked for and finished over the socket: the same two files a script would touch, with answers instead of guesses.

import type { LocalMaintenance } from '../../api/local-protocol.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Work } from '../../api/work.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Bell } from '../bell.ts'
import { openOrders } from '../journal/open-orders.ts'
import { forgetFailure, noteFailure } from '../sentinels/maintenance-failure.ts'
import { ringOnChange } from '../sentinels/ring-on-change.ts'
import { asks, touch } from '../sentinels/sentinel-file.ts'
import type { SideTaskContext } from '../side-task.ts'

type Files = NonNullable<Work['maintenance']>
type State = LocalMaintenance['state']

export class MaintenanceCounter {
  readonly #context: SideTaskContext
  /** Who looks and then touches does so alone: two scripts must not both believe that they asked first. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(context: SideTaskContext) {
    this.#context = context
  }

  /** Asks for maintenance; Refused while somebody else's is asked for or under way. */
  async request(): Promise<LocalMaintenance> {
    const files = this.#files()
    if (!(await this.#askFirst(files))) {
      throw new SlipwayError(
        'Refused',
        `maintenance is asked for already: ${files.required} or ${files.inProgress} is there`,
        {
          nextStep: 'wait for its end: slipway host request --wait',
        },
      )
    }
    return said(files, 'Requested')
  }

  /** Asks when it is free, tells that it asked, and resolves when the node is empty and the work may begin. */
  async requestAndWait(
    tell: (word: LocalMaintenance) => Promise<void>,
    signal: AbortSignal,
  ): Promise<LocalMaintenance> {
    const files = this.#files()
    await this.#waitUntil(files, () => this.#askFirst(files), signal)
    await tell(said(files, 'Requested'))
    await this.#waitUntil(files, () => this.#isLetIn(files), signal)
    return said(files, 'InProgress')
  }

  async finish(failed: string | undefined): Promise<LocalMaintenance> {
    const { host, stateDir, clock } = this.#context
    const files = (await this.#filesUnderWay()) ?? this.#files()
    if (!(await asks(host.files, files.required))) {
      throw new SlipwayError('Refused', `no maintenance is asked for: ${files.required} is not there`, {
        nextStep: 'ask for it first: slipway host request --wait',
      })
    }
    if (failed !== undefined) {
      await noteFailure(host.files, stateDir, failed, clock.now())
      return { ...said(files, 'Failed'), failure: { code: 'MaintenanceFailed', message: failed } }
    }
    const wasLetIn = await asks(host.files, files.inProgress)
    await forgetFailure(host.files, stateDir)
    await host.files.remove(files.required)
    return said(files, wasLetIn ? 'Finished' : 'Cancelled')
  }

  #askFirst(files: Files): Promise<boolean> {
    const attempt = this.#turn.then(async () => {
      const { host } = this.#context
      if ((await asks(host.files, files.required)) || (await asks(host.files, files.inProgress))) return false
      await touch(host.files, files.required, '')
      return true
    })
    this.#turn = Promise.allSettled([attempt])
    return attempt
  }

  async #isLetIn({ required, inProgress }: Files): Promise<boolean> {
    const { files } = this.#context.host
    if (await asks(files, inProgress)) return true
    if (await asks(files, required)) return false
    throw new SlipwayError('Refused', `the request was taken back: ${required} is gone`, {
      nextStep: 'ask again: slipway host request --wait',
    })
  }

  async #waitUntil(files: Files, holds: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    const bell = new Bell()
    const over = new LinkedAbort(signal)
    const looking = ringOnChange(this.#context, [files.required, files.inProgress], () => bell.ring(), over.signal)
    try {
      while (!(await holds())) await bell.heard(signal)
    } finally {
      over.abort('nobody waits any more')
      await Promise.allSettled([looking])
    }
  }

  /** What is under way goes by the files of its order, whatever the policy says meanwhile, also while the API is away. */
  async #filesUnderWay(): Promise<Files | undefined> {
    const { host, stateDir } = this.#context
    return (await openOrders(host.disk, stateDir)).find(({ work }) => work.maintenance)?.work.maintenance
  }

  #files(): Files {
    const { store, nodeName } = this.#context
    const files = store.get(nodeName)?.spec.sentinels?.maintenance
    if (files) return files
    throw new SlipwayError(
      'Refused',
      `maintenance by file is off on ${nodeName}, or the agent has not reached the API yet`,
      {
        nextStep: 'set spec.maintenance of MaintenancePolicy/default',
      },
    )
  }
}

function said(files: Files, state: State): LocalMaintenance {
  return { state, ...files }
}
