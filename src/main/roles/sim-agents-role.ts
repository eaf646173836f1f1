// `slipway sim agents`: the real agent code over pretend hosts, for every matching node, in one process. What a host knows and
// its journal are on a real disk, so that killing this process and starting it again is like rebooting nothing at all.

import { pinoLog } from '../../adapters/log/pino-log.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { SimAgentsOptions } from '../../cli/dependencies.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import { PretendControlPlane } from '../../sim/pretend-control-plane.ts'
import { firstContact } from './first-contact.ts'
import { RehearsedMachine } from './rehearsed-machine.ts'
import type { RoleDependencies } from './role-dependencies.ts'

export async function simAgentsRole(
  deps: RoleDependencies,
  options: SimAgentsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { connector, clock, random } = deps
  const { kubeconfig, context, selector } = options
  const log = pinoLog({ level: 'info', component: 'sim-agents' })
  const api = await connector.connect({ kubeconfig, context, component: 'agent' })
  await firstContact(api, [nodes, nodeStates], signal)
  const kubeletApi = await connector.connect({ kubeconfig, context, component: 'kubelet' })
  const machines = new Map<string, AbortController>()
  const store = new Store<Node>()
  const controlPlane = new Store<Node>()
  const controlPlaneServers = new PretendControlPlane(() => membersOf(controlPlane))
  const serverVersion = await api.serverVersion(signal)
  const rehearsal = { ...deps, api, kubeletApi, log, options, serverVersion, controlPlaneServers }
  store.subscribe(({ type, key, object }) => {
    if (type === 'added') {
      const stop = new AbortController()
      machines.set(key, stop)
      new RehearsedMachine(rehearsal, object, AbortSignal.any([signal, stop.signal])).powerOn()
    } else if (type === 'removed') {
      machines.get(key)?.abort()
      machines.delete(key)
    }
  })
  const selection = selector === undefined ? {} : { labelSelector: selector }
  const ofControlPlane = { labelSelector: 'node-role.kubernetes.io/control-plane' }
  await Promise.all([
    new Reflector({ api, type: nodes, selection, store, clock, random, log }).run(signal),
    new Reflector({ api, type: nodes, selection: ofControlPlane, store: controlPlane, clock, random, log }).run(signal),
  ])
}

/** A member of etcd for each, whoever pretends it, and all are well. */
function membersOf(controlPlane: Store<Node>): ReadonlyMap<string, boolean> {
  const names = [...controlPlane.values()].map(({ metadata }) => metadata.name)
  return new Map(names.sort().map((name) => [name, true]))
}
