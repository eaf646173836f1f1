// A real agent in a process of its own, over the real host and disk, with a pretend API that holds one order. Prints each state of
// the order. Usage: node real-agent.ts STATE_DIR ORDER_JSON SCRIPT_FILE

import { readFile } from 'node:fs/promises'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { FlockFolders } from '../../src/adapters/host/flock-folders.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { runAgent } from '../../src/agent/agent.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { becomesOnlyAgent } from '../../src/agent/only-agent.ts'
import { orderSchema } from '../../src/api/node-state.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { OneNodeCluster } from './one-node-cluster.ts'

const [stateDir = '', orderText = '', scriptFile = ''] = process.argv.slice(2)

const cluster = new OneNodeCluster()
cluster.storeScript(await readFile(scriptFile, 'utf8'))
cluster.place(orderSchema.parse(JSON.parse(orderText)))
let told = ''
setInterval(() => {
  const order = cluster.agent?.order
  const text = order ? JSON.stringify({ state: order.state, reason: order.reason?.code }) : ''
  if (text !== told) process.stdout.write(`${text}\n`)
  told = text
}, 10)

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const [clock, random, log] = [new SystemClock(), new SystemRandom(), silentLog]
await becomesOnlyAgent({ locks: new FlockFolders(), clock, random, log, stateDir }, stop.signal)
await runAgent(
  {
    api: cluster.api,
    host: new LinuxHost({ disk: new FileDisk(), log }),
    clock,
    random,
    log,
    nodeName: 'w1',
    stateDir,
    version: '0.1.0',
    drivers: [scriptDriver],
  },
  stop.signal,
)
process.exit(0)
