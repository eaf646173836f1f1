import type { ConsoleOptions } from '../../cli/dependencies.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { openConsole } from '../page-server/open-console.ts'
import { readPage } from '../page-server/page-files.ts'
import type { RoleDependencies } from './role-dependencies.ts'

/** Serves until aborted. */
export async function consoleRole(role: RoleDependencies, options: ConsoleOptions, signal: AbortSignal): Promise<void> {
  const { connector, clock, random, version } = role
  const { kubeconfig, context, port, namespace, onReady } = options
  const files = await readPage()
  const api = await connector.connect({
    kubeconfig,
    context,
    component: 'console',
    timeoutMs: 15_000,
    retryForMs: 2000,
  })
  // Wrong credentials and addresses are said at once, not on a page.
  await api.serverVersion(signal)
  const { name, server } = await connector.describe({ kubeconfig, context })
  const { url } = await openConsole(
    {
      ...{ api, clock, clusterClock: clock, random, version, port, namespace, files },
      // What goes wrong is told on the page.
      log: silentLog,
      cluster: { name, server, demo: false },
    },
    signal,
  )
  onReady(url)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
