// One history with everything that happens in it: each write, each line of a log, each crash, with its virtual time.

import { inspect } from 'node:util'
import type { Log, LogFields } from '../../src/ports/log.ts'
import type { SimCluster } from '../../src/sim/sim-cluster.ts'
import { tellHistory } from './crash-history.ts'

interface Out {
  write(text: string): unknown
}

export async function tellAloud(crashes: readonly number[], out: Out): Promise<number> {
  let nowMs = () => 0
  const say = (who: string, text: string) =>
    out.write(`${(nowMs() / 1000).toFixed(3).padStart(9)} ${who.padEnd(14)} ${text}\n`)
  const watch = (cluster: SimCluster): void => {
    nowMs = () => cluster.clock.monotonicMs()
    cluster.server.onCommit(({ client, type, kind, before, after }) => {
      const { name, namespace } = (after ?? before)?.metadata ?? {}
      say(client, `${type} ${kind} ${namespace ? `${namespace}/` : ''}${name}`)
    })
  }
  const history = await tellHistory({ crashes }, { watch, log: logTo((text) => say('log', text)) })
  out.write(`\n`)
  for (const { victim, what, atMs } of history.struck)
    out.write(`killed at ${(atMs / 1000).toFixed(3)}: ${victim} ${what}\n`)
  for (const { rule, message } of history.findings) out.write(`rule ${rule}: ${message}\n`)
  out.write(`${history.findings.length} violations; the update took ${Math.round(history.tookMs / 1000)} s\n`)
  return history.findings.length === 0 && history.struck.length === crashes.length ? 0 : 1
}

function logTo(say: (text: string) => void, known: LogFields = {}): Log {
  const line = (message: string, fields: LogFields = {}) => {
    const all = Object.entries({ ...known, ...fields })
    say(`${message}${all.map(([key, value]) => ` ${key}=${inspect(value, { breakLength: Infinity })}`).join('')}`)
  }
  return { debug: line, info: line, warn: line, error: line, with: (fields) => logTo(say, { ...known, ...fields }) }
}
