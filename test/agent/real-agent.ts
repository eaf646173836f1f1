// A real agent in a process of its own, over the real host and disk, with a pretend API that holds one order. Prints each state of
// the order. Usage: node real-agent.ts STATE_DIR ORDER_JSON SCRIPT_FILE

import { readFile } from 'node:fs/promises'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { runAgent } from '../../src/agent/agent.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { orderSchema } from '../../src/api/node-state.ts'
import type { Log } from '../../src/ports/log.ts'
import { FakeApi } from './fake-api.ts'

const [stateDir = '', orderText = '', scriptFile = ''] = process.argv.slice(2)
const silence = () => undefined
const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log }

const api = new FakeApi()
api.scripts.set('hello', await readFile(scriptFile, 'utf8'))
api.place(orderSchema.parse(JSON.parse(orderText)))
let told = ''
setInterval(() => {
  const order = api.agent?.order
  const text = order ? JSON.stringify({ state: order.state, reason: order.reason?.code }) : ''
  if (text !== told) process.stdout.write(`${text}\n`)
  told = text
}, 10)

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
await runAgent(
  {
    api,
    host: new LinuxHost({ disk: new FileDisk() }),
    clock: new SystemClock(),
    random: new SystemRandom(),
    log,
    nodeName: 'w1',
    stateDir,
    version: '0.1.0',
    drivers: [scriptDriver],
  },
  stop.signal,
)
process.exit(0)
