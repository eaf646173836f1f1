// node test/browser/open-console.ts [blocked|approval|fresh|large] [speed]: the console of a test to look at, until Ctrl-C.

import { setup } from './build-page.ts'
import { type ConsoleBedOptions, startConsole } from './console-server.ts'

const [situation = 'blocked', speed = '0'] = process.argv.slice(2)
await setup()
const bed = await startConsole({ situation: situation as ConsoleBedOptions['situation'], speed: Number(speed) })
console.log(bed.url)
process.once('SIGINT', () => bed.stop().then(() => process.exit(0)))
