// A transaction of dnf with what mends the doubles of the host.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { StagedPackage } from '../../../api/staged-packages.ts'
import { askMs, failureText, runTool } from '../run-tool.ts'
import { downloaded, fetchAll, heldIn, type Transaction } from './dnf-transaction.ts'
import { filesQuery, isLeftOver } from './overwritten-files.ts'
import {
  type Double,
  doublesOf,
  isOfSolver,
  leftBroken,
  repairCommand,
  repairedAlong,
  repairTest,
  unaskedRepairs,
} from './repair-doubles.ts'
import { plainName } from './side-by-side.ts'

type Repaired =
  | { readonly ok: true; readonly packages: readonly StagedPackage[] }
  | { readonly ok: false; readonly reason: Reason }

type WithRepairs =
  | { readonly ok: true; readonly packages: readonly StagedPackage[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly reason: Reason }

/** The same transaction with what mends the doubles of the host. Those that nobody asked for stay where that cannot be done. */
export async function withRepairs(
  transaction: Transaction,
  taken: readonly StagedPackage[],
  signal: AbortSignal,
): Promise<WithRepairs> {
  const { status, wanted, unwanted, repairs = 'All', except = [] } = transaction
  const names = new Set(wanted.map(({ name }) => name))
  const forbidden = [...new Set([...except, ...heldIn(status)])].filter((name) => !names.has(name))
  const settled = [...taken, ...unwanted].map(({ name }) => name)
  const found = doublesOf(status, wanted, new Set([...forbidden, ...settled]))
  const doubles = await leftOver(transaction, found, signal)
  const asked = doubles.filter((each) => each.asked)
  const { along, warnings } = unaskedRepairs(doubles, repairs)
  const left = found.filter((each) => !asked.includes(each) && !along.includes(each))
  const untouched = [...forbidden, ...left.map(({ name }) => name)]
  const repair = (some: readonly Double[]) => repaired(transaction, taken, some, untouched, signal)
  if (along.length > 0) {
    const all = await ifAble(repair([...asked, ...along]))
    if (all?.ok) return { ...all, warnings: [...warnings, ...repairedAlong(along, all.packages)] }
    await dropOthers(transaction, taken)
  }
  const alone = await repair(asked)
  return alone.ok ? { ...alone, warnings } : alone
}

/** Without those that a person may have installed side by side, unless they are asked for. */
async function leftOver(
  { host }: Transaction,
  doubles: readonly Double[],
  signal: AbortSignal,
): Promise<readonly Double[]> {
  const native = (await runTool(host, ['rpm', '--eval', '%_arch'], askMs, signal)).stdout.trim()
  const found: Double[] = []
  for (const double of doubles) {
    const { name, keep, asked } = double
    const files = asked ? undefined : await runTool(host, filesQuery(plainName(double)), askMs, signal)
    if (!files || isLeftOver(files.stdout, name, keep, native)) found.push(double)
  }
  return found
}

/** What may pass counts, too: work is not to wait for what nobody asked for. */
async function ifAble(repair: Promise<Repaired>): Promise<Repaired | undefined> {
  try {
    return await repair
  } catch (error) {
    if (error instanceof SlipwayError && error.code === 'StagingFailed') return undefined
    throw error
  }
}

async function repaired(
  transaction: Transaction,
  taken: readonly StagedPackage[],
  doubles: readonly Double[],
  untouched: readonly string[],
  signal: AbortSignal,
): Promise<Repaired> {
  const { host, status, online } = transaction
  const [program = 'dnf'] = online
  const refused = (left: readonly { readonly name: string }[], why?: string): Repaired => ({
    ok: false,
    reason: leftBroken(program, left, why),
  })
  const why = doubles.length === 0 ? undefined : await fetchAll(transaction, repairCommand(doubles, untouched), signal)
  if (why) return isOfSolver(why) ? refused(doubles, why.message) : { ok: false, reason: why }
  const packages = doubles.length === 0 ? taken : await downloaded(transaction, signal)
  const left = doubles.filter((each) => each.asked && !packages.some(({ name }) => name === each.name))
  if (left.length > 0) return refused(left)
  const mended = packages.filter(({ name }) => status.get(name)?.leftOver)
  const test = mended.length === 0 ? undefined : await runTool(host, repairTest(packages), askMs, signal)
  return test && test.exitCode !== 0 ? refused(mended, failureText(test)) : { ok: true, packages }
}

/** All that lies in the folder is taken for the transaction. */
async function dropOthers({ host, folder }: Transaction, taken: readonly StagedPackage[]): Promise<void> {
  for (const name of await host.files.names(folder.archives)) {
    const path = `${folder.archives}/${name}`
    if (!taken.some(({ file }) => file === path)) await host.files.remove(path)
  }
}
