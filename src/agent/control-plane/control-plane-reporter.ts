// Says in the status how this host's API server is and how it sees etcd: when it is asked, when an order has ended, when
// something is wrong until it is well again, and from time to time. Written only when it has changed or was asked for.

import type { ControlPlaneReport, EtcdReport } from '../../api/control-plane.ts'
import type { NodeState } from '../../api/node-state.ts'
import { equalJson } from '../../core/merge-patch.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import { Bell } from '../bell.ts'
import type { SideTask, SideTaskContext } from '../side-task.ts'
import { findApiServer, findEtcd } from './find-etcd.ts'
import { lookAtApiServer } from './look-at-api-server.ts'
import { lookAtEtcd } from './look-at-etcd.ts'

export function controlPlaneReporter(requests: SecureRequests): SideTask {
  return { name: 'control-plane', run: (context, signal) => new Reporter(context, requests).run(signal) }
}

const wellMs = 10 * 60_000
const illMs = { least: 5_000, most: 30_000 }

class Reporter {
  readonly #context: SideTaskContext
  readonly #requests: SecureRequests
  readonly #bell = new Bell()
  #illMs = illMs.least
  #hasLooked = false
  #hasServed = false

  constructor(context: SideTaskContext, requests: SecureRequests) {
    this.#context = context
    this.#requests = requests
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, nodeName } = this.#context
    const unsubscribe = store.subscribe(() => {
      const state = store.get(nodeName)
      if (state && this.#isDue(state)) this.#bell.ring()
    })
    let cancelTimer: CancelTimer = () => undefined
    try {
      for (;;) {
        const state = store.get(nodeName)
        const waitMs = state ? await this.#look(state, signal) : wellMs
        cancelTimer = clock.after(waitMs, () => this.#bell.ring())
        const again = store.get(nodeName)
        if (again && this.#isDue(again)) this.#bell.ring()
        await this.#bell.heard(signal)
        cancelTimer()
      }
    } finally {
      unsubscribe()
      cancelTimer()
    }
  }

  #before(state: NodeState): ControlPlaneReport | undefined {
    return this.#context.publisher.said.controlPlane ?? state.status?.agent?.controlPlane
  }

  #isDue(state: NodeState): boolean {
    if (!this.#hasLooked) return true
    const before = this.#before(state)
    const asked = state.spec.controlPlane?.ask
    if (asked !== undefined && asked !== before?.answers) return true
    return before !== undefined && endedOrder(state) !== before.after
  }

  /** Returns how long what was seen holds. */
  async #look(state: NodeState, signal: AbortSignal): Promise<number> {
    const { host, clock, random, publisher, log } = this.#context
    const before = this.#before(state)
    const answers = state.spec.controlPlane?.ask
    const after = endedOrder(state)
    const isNone = before === undefined && answers === undefined && !(await this.#isControlPlane(signal))
    // Machines that were started together must not look together for ever.
    const jitteredMs = wellMs * (0.75 + random.next() / 2)
    this.#hasLooked = true
    if (isNone) return jitteredMs
    const [apiServer, etcd] = await Promise.all([
      lookAtApiServer(host, this.#requests, signal),
      lookAtEtcd(host, this.#requests, signal),
    ])
    const report: ControlPlaneReport = {
      ...(answers !== undefined && { answers }),
      ...(after !== undefined && { after }),
      checkedAt: clock.now().toISOString(),
      ...(apiServer && { apiServer }),
      etcd: rememberingMember(etcd, before?.etcd),
    }
    if (!before || !equalJson(essence(report), essence(before))) publisher.publish({ controlPlane: report })
    this.#hasServed ||= apiServer !== undefined
    // One whose manifest is gone may be back any moment, and then somebody waits to hear it.
    const serves = apiServer ? apiServer.ready : !this.#hasServed
    const isWell = serves && !etcd.reason && etcd.members.every(({ healthy }) => healthy)
    if (isWell) {
      this.#illMs = illMs.least
      return jitteredMs
    }
    log.warn('the control plane is not well', {
      apiServer: apiServer ? apiServer.problem : 'there is none that we know',
      etcd: etcd.reason?.message,
    })
    const waitMs = this.#illMs
    this.#illMs = Math.min(illMs.most, 2 * waitMs)
    return waitMs
  }

  async #isControlPlane(signal: AbortSignal): Promise<boolean> {
    const { host } = this.#context
    return (await findApiServer(host)) !== undefined || (await findEtcd(host, signal)) !== undefined
  }
}

/** A member that is down cannot say which one it is; the others name it by what it was. */
function rememberingMember(etcd: EtcdReport, before: EtcdReport | undefined): EtcdReport {
  if (!etcd.reason || etcd.place !== 'Local' || before?.member === undefined) return etcd
  return { ...etcd, member: before.member }
}

/** What is worth a write: sizes grow all the time. */
function essence({ checkedAt: _checkedAt, etcd, ...rest }: ControlPlaneReport): object {
  return { ...rest, etcd: { ...etcd, members: etcd.members.map(({ dbBytes: _dbBytes, ...member }) => member) } }
}

function endedOrder({ status }: NodeState): string | undefined {
  const order = status?.agent?.order
  return order?.finishedAt === undefined ? undefined : order.id
}
