import { x25519Sealing } from '../../adapters/crypto/x25519-sealing.ts'
import { driftWatch } from '../../agent/drift/drift-watch.ts'
import type { Driver } from '../../agent/drivers/driver.ts'
import { findKernelArguments } from '../../agent/drivers/kernel-arguments/find-kernel-arguments.ts'
import { profileDriver } from '../../agent/drivers/profile/profile-driver.ts'
import { HostKey } from '../../agent/host-key.ts'
import type { SideTask } from '../../agent/side-task.ts'
import { Turn } from '../../agent/turn.ts'
import type { SealedText } from '../../api/sealed-text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Host } from '../../ports/host.ts'

/** What an agent needs for NodeProfiles; driver and watch share the host's key and take turns. */
export function profileParts(
  host: Host,
  clock: Clock,
  stateDir: string,
): {
  readonly driver: Driver
  readonly sideTasks: readonly SideTask[]
  /** Opens what was sealed to this host. */
  readonly unseal: (sealed: SealedText) => Promise<string>
} {
  const key = new HostKey(host.disk, stateDir, x25519Sealing)
  const tools = { turn: new Turn(), open: key.open.bind(key), findKernelArguments }
  return {
    driver: profileDriver({ ...tools, stateDir, now: () => clock.now() }),
    sideTasks: [key.task, driftWatch(tools)],
    unseal: tools.open,
  }
}
