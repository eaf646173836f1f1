// Every command by its name and one line. The file of a command is loaded when it is asked for: --help needs none of them.

import type { Command } from 'commander'
import type { RunAction } from './command-context.ts'

export type AddCommand = (parent: Command, run: RunAction) => void

export interface ListedCommands {
  /** Name to summary, in the order of the help. */
  readonly commands: Readonly<Record<string, string>>
  /** Not shown in any help. */
  readonly hidden?: boolean
  /** Only for people to read: they end when nobody does. The others change something, or judge by their exit code. */
  readonly reads?: boolean
  load(): Promise<AddCommand>
}

export interface CommandGroup {
  readonly title: string
  readonly members: readonly ListedCommands[]
}

export const commandGroups: readonly CommandGroup[] = [
  {
    title: 'Begin:',
    members: [
      {
        commands: { demo: 'watch an upgrade with faults on a cluster in memory' },
        reads: true,
        load: async () => (await import('./commands/demo.ts')).addDemo,
      },
      {
        commands: { doctor: 'is this cluster ready for Slipway, and Slipway for this cluster' },
        load: async () => (await import('./commands/doctor.ts')).addDoctor,
      },
      {
        commands: { install: 'install Slipway in this cluster, or bring it up to date' },
        load: async () => (await import('./commands/install.ts')).addInstall,
      },
      {
        commands: { uninstall: 'remove Slipway from this cluster' },
        load: async () => (await import('./commands/uninstall.ts')).addUninstall,
      },
      {
        commands: { import: 'take over the settings of kured, Kustodian or system-upgrade-controller' },
        load: async () => (await import('./commands/import.ts')).addImport,
      },
      {
        commands: { verify: 'check that a release is what was signed' },
        load: async () => (await import('./commands/verify.ts')).addVerify,
      },
    ],
  },
  {
    title: 'Update:',
    members: [
      {
        commands: { plan: 'what an update would do to this cluster: order, duration, what is in its way' },
        load: async () => (await import('./commands/plan.ts')).addPlan,
      },
      {
        commands: { update: 'make a DirectUpdate and follow it' },
        load: async () => (await import('./commands/update.ts')).addUpdate,
      },
      {
        commands: {
          pause: 'let an update finish what is under work, and start nothing new',
          resume: 'let a paused update go on',
          cancel: 'end an update before its end',
          retry: 'try nodes again that failed or need a person',
          skip: 'leave nodes out of an update',
          approve: 'let the next wave of an update begin',
          'run-now': 'let an update go on outside of its windows and in spite of freezes',
        },
        load: async () => (await import('./commands/steer.ts')).addSteering,
      },
      {
        commands: { stop: 'emergency stop: nothing new starts, anywhere', start: 'end of the emergency stop' },
        load: async () => (await import('./commands/stop.ts')).addStopAndStart,
      },
    ],
  },
  {
    title: 'Look:',
    members: [
      {
        commands: { console: 'this cluster in a browser: fleet, updates, what waits and why' },
        load: async () => (await import('./commands/console.ts')).addConsole,
      },
      {
        commands: { status: 'how updates stand, what waits and why' },
        reads: true,
        load: async () => (await import('./commands/status.ts')).addStatus,
      },
      {
        commands: { why: 'what a node, update, profile or pod waits for, and what to do' },
        reads: true,
        load: async () => (await import('./commands/why.ts')).addWhy,
      },
      {
        commands: { nodes: 'every node: role, versions, cordon, phase, reason' },
        reads: true,
        load: async () => (await import('./commands/nodes.ts')).addNodes,
      },
      {
        commands: { events: 'what Slipway said of updates and nodes, in the order of time' },
        reads: true,
        load: async () => (await import('./commands/events.ts')).addEvents,
      },
      {
        commands: { logs: 'what the steps on a node wrote' },
        reads: true,
        load: async () => (await import('./commands/logs.ts')).addLogs,
      },
      {
        commands: { report: 'which nodes lag, since when, against a date' },
        load: async () => (await import('./commands/report.ts')).addReport,
      },
    ],
  },
  {
    title: 'Nodes and backups:',
    members: [
      {
        commands: { hold: 'keep a node for yourself: no new work there, and no uncordon' },
        load: async () => (await import('./commands/hold.ts')).addHold,
      },
      {
        commands: { release: 'put a node back: end a hold, take off what Slipway left' },
        load: async () => (await import('./commands/release.ts')).addRelease,
      },
      {
        commands: { host: 'on the machine itself: status, logs, request or finish maintenance' },
        load: async () => (await import('./commands/host.ts')).addHost,
      },
      {
        commands: { backup: 'backups of etcd: make, list, verify, restore' },
        load: async () => (await import('./commands/backup.ts')).addBackup,
      },
      {
        commands: { bundle: 'make or check the bundle of an update without a network' },
        load: async () => (await import('./commands/bundle.ts')).addBundle,
      },
    ],
  },
  {
    title: 'Rehearse:',
    members: [
      {
        commands: { snapshot: 'save what plan reads of this cluster, as JSON' },
        reads: true,
        load: async () => (await import('./commands/snapshot.ts')).addSnapshot,
      },
      {
        commands: { simulate: 'run the engine on an invented cluster, with faults, for many seeds' },
        load: async () => (await import('./commands/simulate.ts')).addSimulate,
      },
      {
        commands: { sim: 'parts of the simulator on a real API server' },
        load: async () => (await import('./commands/sim-agents.ts')).addSim,
      },
    ],
  },
  {
    title: 'Roles and shell:',
    members: [
      {
        commands: { operator: 'the controller that carries updates out (runs until stopped)' },
        load: async () => (await import('./commands/operator.ts')).addOperator,
      },
      {
        commands: { agent: 'carries out work orders on one node (runs until stopped)' },
        load: async () => (await import('./commands/agent.ts')).addAgent,
      },
      {
        commands: { completion: 'make Tab complete commands, options and names in bash, zsh or fish' },
        reads: true,
        load: async () => (await import('./commands/completion.ts')).addCompletion,
      },
      {
        commands: { __complete: 'what may stand at the end of a command line' },
        reads: true,
        hidden: true,
        load: async () => (await import('./commands/complete.ts')).addComplete,
      },
    ],
  },
]

/** By all words that may be its command: a name or a context can be called like one. */
export function onlyReads(argv: readonly string[]): boolean {
  const members = commandGroups.flatMap((group) => group.members)
  const meant = members.filter(({ commands }) => argv.some((word) => Object.hasOwn(commands, word)))
  return meant.length > 0 && meant.every(({ reads = false }) => reads)
}
