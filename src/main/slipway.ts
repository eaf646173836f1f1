// The program: the only place that reads argv, env and signals, and wires adapters to roles.

import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import packageJson from '../../package.json' with { type: 'json' }
import { SystemClock } from '../adapters/clock/system-clock.ts'
import { SystemRandom } from '../adapters/random/system-random.ts'
import { onlyReads } from '../cli/command-list.ts'
import type { CliDependencies } from '../cli/dependencies.ts'
import { runCli } from '../cli/program.ts'
import { calledAs } from './called-as.ts'
import { Connector } from './connector.ts'
import { outliveReaders } from './lost-reader.ts'
import { spareMemory } from './spare-memory.ts'
import { streamTerminal } from './stream-terminal.ts'

const { version } = packageJson
const { env } = process
const { program, argv } = calledAs(env.SLIPWAY_CALLED_AS ?? process.argv[1] ?? '', process.argv.slice(2))
const stop = stopOnSignal()
const clock = new SystemClock()
const random = new SystemRandom()
const connector = new Connector({ clock, random, version, env })
const role = { connector, clock, random, version, env }

const deps: CliDependencies = {
  out: streamTerminal(process.stdout, env),
  err: streamTerminal(process.stderr, env),
  clock,
  random,
  version,
  program,
  signal: stop.signal,
  // A person waits for the answer: what cannot be reached is said after seconds, not after half a minute.
  connect: (connection) => connector.connect({ ...connection, component: 'cli', timeoutMs: 15_000, retryForMs: 2000 }),
  contexts: (connection) => connector.contexts(connection),
  versionsOnOffer: async (api, namespace, signal) =>
    (await import('../operator/versions/version-desk.ts')).askForVersions({ api, namespace }, {}, signal),
  observe: async (api, question, signal) =>
    (await import('../operator/preflight/observe.ts')).observe({ api, clock }, question, signal),
  readFile: (path) => readFile(path, 'utf8'),
  writeFile: (path, text) => writeFile(path, text),
  local: async () => (await import('../adapters/local-socket/unix-client.ts')).unixClient,
  compression: async () => (await import('../adapters/compression/gzip.ts')).gzipCompression,
  bundles: async () => new (await import('../adapters/bundle/file-bundles.ts')).FileBundles(),
  signedReleases: async () => (await import('./release/known-releases.ts')).knownReleases(),
  backupShelf: async (options) => (await import('./roles/backup-shelf.ts')).backupShelf(role, options),
  confirm,
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  // Loaded when asked for: an agent keeps no simulator and no YAML in memory, and `status` does not wait for them.
  yaml: async () => (await import('./yaml-text.ts')).yamlText,
  crds: async () => [...(await import('./crd/render-definitions.ts')).renderDefinitions().values()].join('---\n'),
  foreignCrds: async () =>
    [...(await import('./crd/render-definitions.ts')).renderForeignDefinitions().values()].join('---\n'),
  runOperator: async (options, signal) =>
    (await import('./roles/operator-role.ts')).operatorRole(role, options, signal),
  runAgent: async (options, signal) => (await import('./roles/agent-role.ts')).agentRole(role, options, signal),
  forgetHost: async (options, signal) => (await import('./roles/forget-role.ts')).forgetRole(options, signal),
  runDemo: async (options, sink, signal) =>
    (await import('./roles/demo-role.ts')).demoRole(role, options, sink, signal),
  runConsole: async (options, signal) => (await import('./roles/console-role.ts')).consoleRole(role, options, signal),
  openBrowser: async (url) => (await import('./page-server/open-browser.ts')).openBrowser(url, process.platform),
  hasPage: async () => (await import('./page-server/page-files.ts')).hasPage(),
  spareMemory,
  runPlan: async (options, signal) => (await import('./roles/plan-role.ts')).planRole(version, options, signal),
  runSimulate: async (options, onRun, signal) =>
    (await import('./roles/simulate-role.ts')).simulateRole(version, options, onRun, signal),
  runSimAgents: async (options, signal) =>
    (await import('./roles/sim-agents-role.ts')).simAgentsRole(role, options, signal),
}

outliveReaders(process, onlyReads(argv), (code) => process.exit(code))
const exitCode = await runCli(argv, deps)
await connector.close()
// What was said is written out first; then nothing that still waits (a long timer, an idle connection) holds the process.
await Promise.all([process.stdout, process.stderr].map(written))
process.exit(exitCode)

/** Aborted by the first SIGINT or SIGTERM; a second one ends the process at once. */
function stopOnSignal(): AbortController {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130)
      controller.abort()
    })
  }
  return controller
}

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const { askPerson } = await import('./ask-person.ts')
  return askPerson(question, { input: process.stdin, output: process.stdout, stop })
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
