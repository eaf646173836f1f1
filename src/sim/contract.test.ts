import { kubeApiContract } from '../../test/contract/kube-api-contract.ts'
import { SimCluster } from './sim-cluster.ts'

kubeApiContract('the simulator', async () => {
  const cluster = new SimCluster({ seed: 'contract', nodes: [], latencyMs: [1, 5], which: ['disruption'] }).start()
  let open = true
  // A step of virtual time for each turn of the event loop: the suite waits by watch, as on a real server.
  const running = (async () => {
    while (open) await cluster.run({ limitMs: 2 })
  })()
  return {
    api: cluster.process('contract').api,
    forgetHistory: async () => cluster.server.compact(),
    close: async () => {
      open = false
      await running
    },
  }
})
