import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Connector } from '../connector.ts'

export interface RoleDependencies {
  readonly connector: Connector
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
}
