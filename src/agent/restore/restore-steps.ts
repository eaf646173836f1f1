// The steps of a restore on this host. Each looks first at what is there, so that it may be repeated after an interruption.

import type { RestoreRecord, RestoreStep } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { memberNames } from '../../core/restore/member-site.ts'
import { nothingBefore, restoreCommand, restoringFolder } from '../../core/restore/restore-plan.ts'
import { sleep } from '../../kube/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Host } from '../../ports/host.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import { commandLines } from '../command-lines.ts'
import type { EtcdGateway } from '../control-plane/etcd-gateway.ts'
import { credentialsOf, gatewayOf } from '../control-plane/find-etcd.ts'
import { etcdUnit } from '../drivers/etcd/host-service.ts'
import { markByServer, markInEtcd } from './restore-mark.ts'

export interface RestoreTools {
  readonly host: Host
  readonly requests: SecureRequests
  readonly clock: Clock
  /** A line for the person who waits. */
  readonly tell: (line: string) => void
}

const stopMs = 5 * 60_000
/** Others are restored by a person, host by host. */
const membersMs = 60 * 60_000
const serverMs = 10 * 60_000
const restoreMs = 60 * 60_000
const pollMs = 1_000
const tellEveryMs = 30_000

type Perform = (record: RestoreRecord, tools: RestoreTools, signal: AbortSignal) => Promise<void>

export const perform: Readonly<Record<RestoreStep, Perform>> = {
  Stop: stop,
  PutAside: putAside,
  Restore: restore,
  Place: place,
  StartEtcd: startEtcd,
  Mark: markEtcd,
  StartControlPlane: startControlPlane,
  Check: check,
}

/**
 * The old data and the manifests go back to where they were. It may be repeated at any point: the old data is never taken for the
 * restored one.
 */
export async function putBack(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<void> {
  const { site } = record
  // Before data was touched nothing has to end, and with a dead kubelet nothing would.
  if (record.begun.includes('PutAside')) await stop(record, tools, signal)
  await putDataBack(record, tools.host, signal)
  if (site.kind === 'Service') await run(tools.host, ['systemctl', 'start', '--no-block', etcdUnit], signal)
  for (const { name } of site.components.toReversed()) await unpark(name, record, tools)
}

async function putDataBack(record: RestoreRecord, host: Host, signal: AbortSignal): Promise<void> {
  const { site, aside } = record
  const isFolder = async (path: string) => (await host.files.look(path)).kind === 'folder'
  const nothing = nothingBefore(record)
  await run(host, ['rm', '-rf', restoringFolder(record)], signal)
  // What was restored can be restored again; what was there before cannot.
  if (await isFolder(`${aside}/member`)) {
    await run(host, ['rm', '-rf', `${site.dataDir}/member`], signal)
    await host.files.rename(`${aside}/member`, `${site.dataDir}/member`)
  } else if (await isFolder(nothing)) {
    await run(host, ['rm', '-rf', `${site.dataDir}/member`], signal)
    await run(host, ['rmdir', nothing], signal)
  }
  if (await isFolder(aside)) await run(host, ['rmdir', aside], signal)
}

async function stop(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<void> {
  const { site, parked } = record
  const { host } = tools
  await run(host, ['mkdir', '-p', '-m', '0700', parked], signal)
  for (const { name } of site.components) {
    const manifest = `${site.manifests}/${name}.yaml`
    if ((await host.files.look(manifest)).kind === 'file') await host.files.rename(manifest, `${parked}/${name}.yaml`)
  }
  if (site.kind === 'Service') await run(host, ['systemctl', 'stop', etcdUnit], signal)
  await until({ tools, withinMs: stopMs, what: 'the control plane of this host to end' }, signal, async () => {
    const left = await stillRunning(record, host)
    return left.length === 0 ? undefined : `${left.join(', ')} still run: is the kubelet alive?`
  })
}

/** By the very command lines of their manifests: another etcd of the machine is none of ours. */
async function stillRunning({ site }: RestoreRecord, host: Host): Promise<readonly string[]> {
  const wanted = new Map(site.components.map(({ name, argv }) => [argv.join('\0'), name]))
  const found = new Set<string>()
  for (const words of await commandLines(host)) {
    const name = wanted.get(words.join('\0'))
    if (name !== undefined) found.add(name)
  }
  return [...found]
}

async function putAside(record: RestoreRecord, { host }: RestoreTools, signal: AbortSignal): Promise<void> {
  const { site, aside } = record
  if ((await host.files.look(site.dataDir)).kind === 'none') {
    await run(host, ['mkdir', '-p', '-m', '0700', site.dataDir], signal)
  }
  // A second time there is nothing to put aside: what lies there by then is not the old data.
  if ((await host.files.look(`${aside}/member`)).kind === 'folder') return
  await run(host, ['mkdir', '-p', '-m', '0700', aside], signal)
  const data = `${site.dataDir}/member`
  if ((await host.files.look(data)).kind === 'folder') await host.files.rename(data, `${aside}/member`)
  else await run(host, ['mkdir', '-p', '-m', '0700', nothingBefore(record)], signal)
}

async function restore(record: RestoreRecord, { host }: RestoreTools, signal: AbortSignal): Promise<void> {
  const folder = restoringFolder(record)
  await run(host, ['rm', '-rf', folder], signal)
  await run(host, restoreCommand(record), signal, restoreMs)
  // An etcd of the host may run as a user of its own.
  await run(host, ['chown', '-R', `--reference=${record.site.dataDir}`, folder], signal)
  await run(host, ['sync', '--file-system', folder], signal)
}

async function place(record: RestoreRecord, { host }: RestoreTools, signal: AbortSignal): Promise<void> {
  const folder = restoringFolder(record)
  if ((await host.files.look(`${folder}/member`)).kind === 'folder') {
    await host.files.rename(`${folder}/member`, `${record.site.dataDir}/member`)
  }
  await run(host, ['rm', '-rf', folder], signal)
}

async function startEtcd(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<void> {
  const { site, members } = record
  if (site.kind === 'Service') await run(tools.host, ['systemctl', 'start', '--no-block', etcdUnit], signal)
  else await unpark('etcd', record, tools)
  const others = memberNames(members).filter((name) => name !== site.name)
  const what = others.length > 0 ? `a majority of etcd (this host and ${others.join(', ')})` : 'etcd'
  const gateway = await gatewayTo(record, tools)
  const orElse = ', or put back what was there with --undo'
  await until({ tools, withinMs: membersMs, what, orElse }, signal, () =>
    problemOf(gateway.readAgreed(site.etcd.url, signal), signal),
  )
}

/** Asked once: whether etcd of this host has a majority behind it. One that does not answer has none that counts. */
export async function hasMajority(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<boolean> {
  const gateway = await gatewayTo(record, tools)
  return (await problemOf(gateway.readAgreed(record.site.etcd.url, signal), signal)) === undefined
}

async function markEtcd(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<void> {
  const outcome = await markInEtcd(record, await gatewayTo(record, tools), signal)
  if (outcome === 'NoLedger') tools.tell('there is no MaintenancePolicy in this backup, so no ledger to warn')
  if (outcome === 'Later') tools.tell('etcd’s content is encrypted: Slipway is told when the API server answers')
}

async function startControlPlane(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<void> {
  const { site, mark } = record
  for (const { name } of site.components) if (name !== 'etcd') await unpark(name, record, tools)
  const { apiServer } = site
  if (apiServer) {
    const credentials = await credentialsOf(tools.host, apiServer)
    const request = { method: 'GET', url: `${apiServer.url}/readyz`, credentials, timeoutMs: 5_000 } as const
    await until({ tools, withinMs: serverMs, what: 'the API server of this host' }, signal, async () => {
      let status = 0
      const problem = await problemOf(
        tools.requests.send(request, signal).then((answer) => {
          status = answer.status
        }),
        signal,
      )
      return problem ?? (status === 200 ? undefined : `${request.url} answers ${status}`)
    })
  }
  const gateway = await gatewayTo(record, tools)
  if ((await markInEtcd(record, gateway, signal)) === 'Later') await markByServer(tools.host, mark, signal)
}

async function check(record: RestoreRecord, tools: RestoreTools, signal: AbortSignal): Promise<void> {
  const { site, members } = record
  const gateway = await gatewayTo(record, tools)
  const wanted = memberNames(members)
  await until({ tools, withinMs: membersMs, what: `all members of etcd (${wanted.join(', ')})` }, signal, async () => {
    let started: readonly string[] = []
    const listing = gateway.members(site.etcd.url, signal).then(async (found) => {
      const answering = await Promise.all(
        found.map(async ({ name, clientURLs: [url] }) =>
          url !== undefined && (await problemOf(gateway.readAgreed(url, signal), signal)) === undefined ? [name] : [],
        ),
      )
      started = answering.flat()
    })
    const problem = await problemOf(listing, signal)
    const silent = wanted.filter((name) => !started.includes(name))
    return problem ?? (silent.length === 0 ? undefined : `${silent.join(', ')} do not answer yet`)
  })
  const { header } = await gateway.status(site.etcd.url, signal)
  if (BigInt(header.revision) <= BigInt(record.backup.revision)) {
    throw failed(`etcd is at revision ${header.revision}, not beyond ${record.backup.revision} of the backup`)
  }
}

async function unpark(name: string, { site, parked }: RestoreRecord, { host }: RestoreTools): Promise<void> {
  const from = `${parked}/${name}.yaml`
  if ((await host.files.look(from)).kind === 'file') await host.files.rename(from, `${site.manifests}/${name}.yaml`)
}

function gatewayTo({ site }: RestoreRecord, { host, requests }: RestoreTools): Promise<EtcdGateway> {
  return gatewayOf(host, requests, { endpoints: [site.etcd.url], ...site.etcd })
}

async function run(host: Host, argv: readonly string[], signal: AbortSignal, timeoutMs?: number): Promise<void> {
  const result = await host.run({ argv, ...(timeoutMs !== undefined && { timeoutMs }) }, signal)
  if (result.exitCode === 0) return
  const said = (result.stderr || result.stdout).trim().split('\n').at(-1)?.slice(0, 1000)
  throw failed(`${argv.join(' ')} ended with ${result.exitCode}: ${said}`)
}

function failed(message: string, orElse = ''): SlipwayError {
  return new SlipwayError('RestoreFailed', message, {
    nextStep: `put that right, then run slipway backup restore again: it goes on where it stopped${orElse}`,
  })
}

/** What an attempt failed with, where that may pass. */
async function problemOf(attempt: Promise<unknown>, signal: AbortSignal): Promise<string | undefined> {
  try {
    await attempt
    return undefined
  } catch (error) {
    if (signal.aborted || !(error instanceof SlipwayError) || error.code !== 'CannotReach') throw error
    return error.message
  }
}

interface Wait {
  readonly tools: RestoreTools
  readonly withinMs: number
  readonly what: string
  /** What else a person can do. */
  readonly orElse?: string
}

async function until(
  { tools, withinMs, what, orElse }: Wait,
  signal: AbortSignal,
  look: () => Promise<string | undefined>,
): Promise<void> {
  const { clock, tell } = tools
  const beganMs = clock.monotonicMs()
  let toldMs = beganMs
  for (;;) {
    const problem = await look()
    if (problem === undefined) return
    const now = clock.monotonicMs()
    if (now - beganMs > withinMs) throw failed(`waited ${withinMs / 60_000} minutes for ${what}: ${problem}`, orElse)
    if (now - toldMs >= tellEveryMs) {
      toldMs = now
      tell(`still waiting for ${what}: ${problem}`)
    }
    await sleep(clock, pollMs, signal)
  }
}
