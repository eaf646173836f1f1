// Kubernetes upgrades as pretend hosts carry them out; given only to agents that run over pretend hosts. The shape is that of
// the real thing: the control plane first, then the kubelet, then its restart; each step looks before and after it runs.

import type { Order } from '../../api/node-state.ts'
import type { Component } from '../../api/work.ts'
import { componentsOf } from '../../core/update/drivers-for.ts'
import { sameVersion } from '../../core/version.ts'
import type { HostFacts } from '../../ports/host.ts'
import type { Driver, Step, StepContext } from './driver.ts'

/** Named as the real ones, so that the same orders are carried out. */
export const rehearsalDrivers: readonly Driver[] = [
  rehearsal('kubeadm', ({ role }) => (role === 'ControlPlane' ? [upgradeControlPlane] : [])),
  rehearsal('kubelet', () => [upgradeKubelet, restartKubelet]),
  rehearsal('kubectl', () => []),
]

const attempts = 3
const restartTimeoutMs = 5 * 60_000

const upgradeControlPlane: Step = {
  name: 'upgrade-control-plane',
  disruptive: false,
  stopsControlPlane: true,
  attempts,
  showsEffect: true,
  argv: (context) => Promise.resolve(['pretend-upgrade', 'control-plane', target(context)]),
  holds: async (context, signal) => runs('apiServer', context, await context.host.facts(signal)),
  missing: async (context, signal) => whatIsMissing('apiServer', context, await context.host.facts(signal)),
}

const upgradeKubelet: Step = {
  name: 'upgrade-kubelet',
  disruptive: false,
  attempts,
  showsEffect: true,
  argv: (context) => Promise.resolve(['pretend-upgrade', 'kubelet', target(context)]),
  holds: async (context, signal) => runs('kubelet', context, await context.host.facts(signal)),
  missing: async (context, signal) => whatIsMissing('kubelet', context, await context.host.facts(signal)),
}

/** Whether the running kubelet is the installed one cannot be seen from the host's facts, so it is always restarted. */
const restartKubelet: Step = {
  name: 'restart-kubelet',
  disruptive: true,
  attempts,
  showsEffect: false,
  timeoutMs: restartTimeoutMs,
  restartsKubelet: true,
  brief: true,
  argv: () => Promise.resolve(['pretend-restart-kubelet']),
  missing: async (context, signal) => whatIsMissing('kubelet', context, await context.host.facts(signal)),
}

function rehearsal(name: Component, steps: (order: Order) => readonly Step[]): Driver {
  return {
    name,
    concerns: ({ work }) => work.kubernetes !== undefined && componentsOf(work.kubernetes).includes(name),
    inspect: async ({ host }, signal) => ({ facts: await host.facts(signal) }),
    steps,
    undo: { possible: false, because: 'it is only pretended', endsUndo: 'WhenBegun' },
  }
}

function target(context: StepContext): string {
  return context.order.work.kubernetes?.version ?? ''
}

function runs(component: 'apiServer' | 'kubelet', context: StepContext, facts: HostFacts): boolean {
  return sameVersion(facts[component] ?? '', target(context))
}

function whatIsMissing(component: 'apiServer' | 'kubelet', context: StepContext, facts: HostFacts): string | undefined {
  if (runs(component, context, facts)) return undefined
  return `the host’s ${component} is ${facts[component] ?? 'not there'}, not ${target(context)}`
}
