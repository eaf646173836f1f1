// One transaction of dnf while it is staged: what dnf takes for a command lies in its folder afterwards, and is the transaction.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { StagedPackage } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { heldAs } from '../held-as.ts'
import type { Repairs, UnwantedPackage, WantedPackage } from '../package-manager.ts'
import { roomMissing } from '../package-reasons.ts'
import { askMs, downloadMs, failureText, runTool } from '../run-tool.ts'
import type { DnfFolder } from './dnf-folder.ts'
import { fetchFailure, isRefusedByUs, parseSize, solveFailure } from './dnf-output.ts'
import { dnfName, parseRpms, type RpmStatus, rpmFormat } from './rpm-status.ts'
import { isSideBySide, sideBySideMarks } from './side-by-side.ts'

export interface Transaction {
  readonly host: Host
  readonly folder: DnfFolder
  readonly status: RpmStatus
  /** dnf with its options, and what it is asked: `install a-1-1`, `upgrade --security`, `reinstall a`. */
  readonly online: readonly string[]
  readonly command: readonly string[]
  readonly wanted: readonly WantedPackage[]
  readonly unwanted: readonly UnwantedPackage[]
  /** Never touched, held or not. */
  readonly except?: readonly string[]
  readonly repairs?: Repairs | undefined
}

/** What dnf would take for the command, put into the folder beside what is there. */
export async function fetchAll(
  { host, folder, status, online }: Transaction,
  command: readonly string[],
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const tried = await runTool(host, [...online, '--assumeno', ...command], askMs, signal)
  if (tried.exitCode !== 0 && !isRefusedByUs(tried)) return solveFailure(tried, [...heldIn(status)])
  const bytes = parseSize(tried.stdout, 'Total download size')
  const growth = parseSize(tried.stdout, 'Installed size')
  const full = await roomMissing(host, folder.archives, [{ fileName: '', bytes }], growth)
  if (full) return full
  const download = [...online, '--downloadonly', `--destdir=${folder.archives}`, ...command]
  const fetched = await runTool(host, download, downloadMs, signal)
  return fetched.exitCode === 0 ? undefined : fetchFailure(fetched)
}

/** What dnf put into the empty folder is the transaction; each file says itself what it is. */
export async function downloaded(
  { host, folder, status, online, wanted }: Transaction,
  signal: AbortSignal,
): Promise<readonly StagedPackage[]> {
  const native = (await runTool(host, ['rpm', '--eval', '%_arch'], askMs, signal)).stdout.trim()
  const marks = await sideBySideMarks(host)
  const manual = new Set(await userInstalled(host, online, signal))
  const packages: StagedPackage[] = []
  for (const fileName of await host.files.names(folder.archives)) {
    const file = `${folder.archives}/${fileName}`
    const asked = await runTool(host, ['rpm', '-qp', '--nosignature', '--qf', rpmFormat, file], askMs, signal)
    const [rpm] = parseRpms(asked.stdout)
    const provided = await runTool(host, ['rpm', '-qp', '--nosignature', '--provides', file], askMs, signal)
    const sha256 = await host.files.sha256(file)
    const look = await host.files.look(file)
    if (asked.exitCode !== 0 || !rpm || sha256 === undefined || look.kind !== 'file') {
      throw new SlipwayError('StagingFailed', `${file} is no package: ${failureText(asked)}`)
    }
    const name = dnfName(rpm, native)
    const here = status.get(name)
    const wish = wanted.find((each) => each.name === name)
    packages.push({
      name,
      architecture: rpm.architecture,
      version: rpm.version,
      ...(here && { previous: here.version }),
      file,
      sha256,
      bytes: look.bytes,
      wanted: wish !== undefined,
      ...heldAs(here, wish?.hold),
      automatic: here ? !manual.has(name) : wish === undefined,
      ...(isSideBySide(rpm.name, provided.stdout.split('\n'), marks) && { sideBySide: true as const }),
    })
  }
  return packages
}

async function userInstalled(host: Host, online: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const argv = [...online, '-q', '--disablerepo=*', 'repoquery', '--userinstalled', '--qf', '%{name}']
  return (await runTool(host, argv, askMs, signal)).stdout.split('\n')
}

export function heldIn(status: RpmStatus): ReadonlySet<string> {
  return new Set([...status].filter(([, each]) => each.held).map(([name]) => name))
}
