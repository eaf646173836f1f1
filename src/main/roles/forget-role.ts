import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { forgetHost } from '../../agent/forget/forget-host.ts'
import { localSocketPath } from '../../api/local-protocol.ts'
import type { ForgetOptions } from '../../cli/dependencies.ts'
import type { KeptOnHost } from '../../ports/host-memory.ts'
import { enterHost } from './enter-host.ts'

/** On the machine itself, or from a container of it that has the state folder at the same path, as an agent's has. */
export function forgetRole({ stateDir, hostRoot }: ForgetOptions, signal: AbortSignal): Promise<readonly KeptOnHost[]> {
  const inContainer = hostRoot !== '/'
  const log = pinoLog({ level: 'warn', component: 'cli' })
  const host = new LinuxHost({ disk: new FileDisk(), log, root: hostRoot, ...(inContainer && { enter: enterHost }) })
  return forgetHost({ host, stateDir, socket: localSocketPath }, signal)
}
