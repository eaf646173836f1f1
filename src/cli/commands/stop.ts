// slipway stop and start: the emergency stop of the whole cluster, and its end.

import type { Command } from 'commander'
import { maintenancePolicies, policyName, stopAnnotation } from '../../api/maintenance-policy.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { readPolicy } from '../read-cluster.ts'
import { isUninstallsStop } from '../uninstall/work-left.ts'

interface StopOptions {
  readonly all?: boolean
}

export function addStopAndStart(parent: Command, run: RunAction): void {
  addStop(parent, run)
  addStart(parent, run)
}

function addStop(parent: Command, run: RunAction): void {
  parent
    .command('stop')
    .description(
      'Sets spec.paused of MaintenancePolicy default. What is under way on a node ends; no other node is taken.',
    )
    .option('--all', 'yes, everything in this cluster')
    .addHelpText('after', '\nExamples:\n  slipway stop --all\n  slipway start --all')
    .action(run((context, options: StopOptions) => setPaused(context, true, options)))
}

function addStart(parent: Command, run: RunAction): void {
  parent
    .command('start')
    .description('Takes spec.paused of MaintenancePolicy default back: what waited goes on.')
    .option('--all', 'yes, everything in this cluster')
    .addHelpText('after', '\nExamples:\n  slipway start --all')
    .action(run((context, options: StopOptions) => setPaused(context, false, options)))
}

async function setPaused(context: CommandContext, paused: boolean, { all }: StopOptions): Promise<number> {
  const word = paused ? 'stop' : 'start'
  if (!all) {
    throw new SlipwayError('Usage', `${word} is for the whole cluster and needs --all`, {
      nextStep: `run: slipway ${word} --all`,
    })
  }
  const { out, signal } = context
  const api = await context.api()
  const policy = await readPolicy(api, signal)
  // What a person says counts from then on: uninstall does not take it back.
  const unsigned = { metadata: { annotations: { [stopAnnotation]: null } } }
  if ((policy?.spec.paused ?? false) === paused) {
    if (policy && isUninstallsStop(policy)) {
      await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: unsigned }, signal)
    }
    out.write(paused ? 'it was stopped already\n' : 'nothing was stopped\n')
    return exitCode.done
  }
  const { apiVersion, kind } = maintenancePolicies
  if (policy) {
    const body = { ...unsigned, spec: { paused } }
    await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
  } else {
    await api.create(
      maintenancePolicies,
      { apiVersion, kind, metadata: { name: policyName }, spec: { paused } },
      signal,
    )
  }
  const held = policy?.status?.ledger?.grants.map(({ node }) => node) ?? []
  const under = held.length === 0 ? 'no node is under work' : `work that is under way ends on ${held.join(', ')}`
  out.write(
    paused ? `stopped: nothing new starts; ${under}\nslipway start --all goes on\n` : 'started: what waited goes on\n',
  )
  return exitCode.done
}
