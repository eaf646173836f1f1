import { packagesDriver } from '../../../src/agent/drivers/packages/packages-driver.ts'
import { bootRpmMachine } from '../../bed/rpm/rpm-machine.ts'
import type { RpmPackage } from '../../bed/rpm/rpm-package.ts'
import { publishRpms, writeRepositoryFile } from '../../bed/rpm/rpm-repository.ts'
import type { ConformanceCase } from '../conformance-case.ts'

/** Slow scripts, so that there is a middle to be cut off in. */
const slow = (name: string, version: string, requires: readonly string[] = []): RpmPackage => ({
  name,
  version,
  requires,
  files: { [`/usr/share/${name}/version`]: version },
  afterInstall: 'sleep 0.3',
})
const before = [slow('one', '1.0'), slow('two', '1.0'), slow('held', '1.0'), slow('kubelet', '1.0')]
const after = [
  ...[slow('one', '2.0', ['three']), slow('two', '2.0'), slow('three', '1.0')],
  ...[slow('held', '2.0'), slow('kubelet', '2.0')],
]

export const conformanceCase: ConformanceCase = {
  name: 'packages (dnf)',
  tool: { name: 'dnf', version: ['dnf', '--version'] },
  driver: packagesDriver,
  setUp: async (bed) => {
    const machine = await bootRpmMachine(bed, 'dnf')
    // Debian's, but kept with dnf alone.
    await machine.run(['rm', '/usr/bin/apt-get'])
    await writeRepositoryFile(machine, { name: 'tools', url: await publishRpms(bed, 'tools', before) })
    await machine.run(['dnf', '-y', '-q', 'install', ...before.map(({ name }) => name)])
    await machine.run(['dnf', '-y', '-q', 'versionlock', 'add', 'held'])
    await publishRpms(bed, 'tools', [...before, ...after])
    return machine
  },
  order: () => Promise.resolve({ work: { os: { packages: 'All' } } }),
  isDone: async (machine) => (await machine.exec(['rpm', '-q', 'one', 'two'])).stdout === lines('one-2.0', 'two-2.0'),
  check: async (machine) => {
    const found = await machine.run(['rpm', '-q', 'held', 'kubelet', 'three'])
    if (found !== lines('held-1.0', 'kubelet-1.0', 'three-1.0')) throw new Error(`found ${found}`)
    await machine.run(['dnf', '-q', '--disablerepo=*', 'check'])
  },
}

/** As rpm prints them: each one once, or it would stand there twice. */
function lines(...names: readonly string[]): string {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  return names.map((name) => `${name}-1.${machine}\n`).join('')
}
