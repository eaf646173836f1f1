import { expect } from 'vitest'
import { packageJobEnv } from '../../src/agent/packages/exit-reasons.ts'
import type { PackageManager, StageRequest } from '../../src/agent/packages/package-manager.ts'
import type { StagedPackages } from '../../src/api/staged-packages.ts'
import type { DebPackage } from '../bed/deb-package.ts'
import type { Execution } from '../bed/execute.ts'
import type { Machine } from '../bed/machine.ts'

/** The programs and the configuration file of a package that says its version. */
export function tool(name: string, version: string, more: Partial<DebPackage> = {}): DebPackage {
  return {
    name,
    version,
    files: [
      { path: `/usr/bin/${name}`, content: `#!/bin/sh\necho ${name} ${version}\n`, mode: 0o755 },
      { path: `/etc/${name}.conf`, content: `of ${version}\n` },
    ],
    conffiles: [`/etc/${name}.conf`],
    ...more,
  }
}

export async function mustStage(
  manager: PackageManager,
  request: Pick<StageRequest, 'wanted'> & Partial<StageRequest>,
): Promise<StagedPackages> {
  const result = await stage(manager, request)
  if (!result.ok) throw new Error(`not staged: ${result.reason.code}: ${result.reason.message}`)
  return result.staged
}

export function stage(manager: PackageManager, request: Pick<StageRequest, 'wanted'> & Partial<StageRequest>) {
  return manager.stage(
    { folder: '/var/lib/slipway/staging/one', sources: { from: 'Host' }, ...request },
    AbortSignal.timeout(120_000),
  )
}

export function runJob(machine: Machine, manager: PackageManager, staged: StagedPackages): Promise<Execution> {
  return machine.exec(manager.jobArgv(staged), { env: packageJobEnv, timeoutMs: 120_000 })
}

/** The same, with what it says in a file of the machine: to be read while it runs. */
export function runJobInto(
  file: string,
  machine: Machine,
  manager: PackageManager,
  staged: StagedPackages,
): Promise<Execution> {
  const argv = ['sh', '-c', '"$@" >"$0" 2>&1', file, ...manager.jobArgv(staged)]
  return machine.exec(argv, { env: packageJobEnv, timeoutMs: 120_000 })
}

/** Holds the lock as another package manager would, from when it says so. */
const lockHolder = `use Fcntl;
open(my $file, ">>", "/var/lib/dpkg/lock-frontend") or die;
my $lock = pack("s s l! l! i", F_WRLCK, 0, 0, 0, 0);
fcntl($file, F_SETLKW, $lock) or die;
open(my $sign, ">", "/run/lock-is-held") or die;
sleep;`

/** Returns when another program has the lock of apt and dpkg. */
export async function takeLock(machine: Machine): Promise<void> {
  await machine.writeFile('/root/hold-lock', lockHolder)
  await machine.run(['systemd-run', '--quiet', '--unit=lock-holder', 'perl', '/root/hold-lock'])
  await expect.poll(async () => (await machine.exec(['test', '-e', '/run/lock-is-held'])).code).toBe(0)
}

export async function letLockGo(machine: Machine): Promise<void> {
  await machine.run(['systemctl', 'stop', 'lock-holder'])
}
