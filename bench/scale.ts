// `node bench/scale.ts [NODES PODS]`: the operator's memory on a big cluster; minutes, and some GiB for the API server.

import { operatorMemory } from './operator-memory.ts'
import { runBenches } from './run-benches.ts'

const [nodes = 5000, pods = 150_000] = process.argv.slice(2).map(Number)
process.exit(await runBenches([operatorMemory({ nodes, pods })], () => 'make bench-scale'))
