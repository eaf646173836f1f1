import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { otherGeneration } from './dnf-generation.ts'
import { dnfPackageManager } from './dnf-package-manager.ts'

const five =
  'dnf5 version 5.2.8.1\ndnf5 plugin API version 2.0\nlibdnf5 version 5.2.8.1\nlibdnf5 plugin API version 2.1\n'
const four =
  '4.14.0\n  Installed: dnf-0:4.14.0-9.el9.noarch at Mon 01 Jan 2024\n  Built    : builder at Mon 01 Jan 2024\n\n  Installed: rpm-0:4.16.1.3-29.el9.x86_64 at Mon 01 Jan 2024\n'

/** As CentOS 7 prints it. */
const three =
  '3.4.3\n  Installed: rpm-4.11.3-48.el7_9.x86_64 at 2023-01-01 10:00\n  Built    : CentOS BuildSystem at 2021-11-24 16:33\n'

it.each([
  ['dnf 5', five, { name: 'dnf', version: '5.2.8.1' }],
  ['dnf 4', four, undefined],
  ['dnf 4 of Enterprise Linux 8, by its name yum', four.replaceAll('4.14.0', '4.7.0'), undefined],
  ['yum 3', three, { name: 'yum', version: '3.4.3' }],
  [
    'yum 3 that tells of its plugins first',
    `Loaded plugins: fastestmirror\n${three}`,
    { name: 'yum', version: '3.4.3' },
  ],
  ['nothing', '', undefined],
])('%s', (_, said, other) => expect(otherGeneration(said)).toEqual(other))

describe('a host with another generation of dnf', () => {
  const request = { folder: '/staging/dnf', sources: { from: 'Host' } } as const

  it.each([
    ['dnf', five, 'the host has dnf 5.2.8.1, and only dnf 4'],
    ['yum', three, 'the host has yum 3.4.3, and only dnf 4'],
  ] as const)('is refused while the node still works, and nothing else is asked: %s', async (program, said, words) => {
    const { host, signal, ...bench } = bed(said)
    const manager = dnfPackageManager(host, program)
    const results = [
      await manager.stage({ ...request, wanted: [{ name: 'kubelet' }] }, signal),
      await manager.stageUpgrade({ ...request, upgrade: 'All', except: [] }, signal),
      await manager.stageReturn(
        { manager: 'dnf', folder: '/f', packages: [], removals: [], keptBack: [] },
        request,
        signal,
      ),
    ]
    for (const result of results) {
      const message = expect.stringContaining(words)
      expect(result).toEqual({ ok: false, reason: { code: 'PackageManagerMissing', message } })
    }
    expect(bench.ran).toEqual(Array.from({ length: 3 }, () => `${program} --version`))
  })

  it('that has dnf 4 is worked on', async () => {
    const { host, signal } = bed(four)
    expect(await dnfPackageManager(host, 'dnf').stage({ ...request, wanted: [] }, signal)).toMatchObject({ ok: true })
  })
})

function bed(version: string): StepBench {
  const bench = new StepBench(scriptOrder())
  bench.answers({
    '--version': version,
    'rpm --eval': 'x86_64\n',
    'rpm -qa': '',
    'rm -rf': '',
    'mkdir -p': '',
    'sync -f': '',
    makecache: '',
  })
  return bench
}
