// Scripts on the hosts of a fault run: one asks for maintenance by its file and takes it away when it is done; an upgrade of the
// operating system asks for a reboot, and its file is gone after any boot.

import { nodes } from '../../api/kube.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import type { SimMachine } from '../../sim/sim-machine.ts'
import type { FaultExtras } from './fault-extras.ts'

export const rebootSentinel = '/var/run/reboot-required'
export const maintenanceRequired = '/var/maintenance-required'
export const maintenanceInProgress = '/var/maintenance-in-progress'

const asRoot = { mode: 0o644, owner: 'root', group: 'root' }
const workMs = 40_000

export class HostScripts {
  readonly #cluster: SimCluster
  readonly #extras: FaultExtras
  #maintenance: { state: 'wanted' | 'asked' | 'done' } | { state: 'works'; sinceMs: number }
  #reboot: { state: 'wanted' | 'done' } | { state: 'asked'; bootId: string }

  constructor(cluster: SimCluster, extras: FaultExtras) {
    this.#cluster = cluster
    this.#extras = extras
    this.#maintenance = { state: extras.maintained === undefined ? 'done' : 'wanted' }
    this.#reboot = { state: extras.rebooting === undefined ? 'done' : 'wanted' }
  }

  get areDone(): boolean {
    return this.#maintenance.state === 'done' && this.#reboot.state === 'done'
  }

  async goOn(): Promise<void> {
    if (this.#cluster.clock.monotonicMs() < this.#extras.sentinelsFromMs) return
    const maintained = this.#machine(this.#extras.maintained)
    if (maintained === 'gone') this.#maintenance = { state: 'done' }
    else if (maintained?.powered) await this.#maintain(maintained)
    const rebooting = this.#machine(this.#extras.rebooting)
    if (rebooting === 'gone') this.#reboot = { state: 'done' }
    else if (rebooting?.powered) await this.#askForReboot(rebooting)
  }

  async #maintain({ host: { files } }: SimMachine): Promise<void> {
    const nowMs = this.#cluster.clock.monotonicMs()
    switch (this.#maintenance.state) {
      case 'wanted':
        await files.write(maintenanceRequired, '', asRoot)
        this.#maintenance = { state: 'asked' }
        return
      case 'asked':
        if ((await files.look(maintenanceInProgress)).kind === 'file')
          this.#maintenance = { state: 'works', sinceMs: nowMs }
        return
      case 'works':
        if (nowMs - this.#maintenance.sinceMs < workMs) return
        await files.remove(maintenanceRequired)
        this.#maintenance = { state: 'done' }
        return
      case 'done':
    }
  }

  async #askForReboot({ host }: SimMachine): Promise<void> {
    const { bootId } = await host.state()
    if (this.#reboot.state === 'wanted') {
      await host.files.write(rebootSentinel, '', asRoot)
      this.#reboot = { state: 'asked', bootId }
    } else if (this.#reboot.state === 'asked' && this.#reboot.bootId !== bootId) {
      await host.files.remove(rebootSentinel)
      this.#reboot = { state: 'done' }
    }
  }

  /** Gone: its Node was deleted, and it never comes back. */
  #machine(name: string | undefined): SimMachine | 'gone' | undefined {
    if (name === undefined) return undefined
    return this.#cluster.server.peek(nodes, { name }) ? this.#cluster.machine(name) : 'gone'
  }
}
