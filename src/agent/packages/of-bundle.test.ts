import { describe, expect, it } from 'vitest'
import type { Reason } from '../../api/reason.ts'
import { tellingOfBundles } from './of-bundle.ts'
import type { PackageManager, PackageSources } from './package-manager.ts'
import { versionUnknown } from './package-reasons.ts'

const host: PackageSources = { from: 'Host' }
const bundle: PackageSources = { from: 'Folder', folder: '/staging/bundle/packages/deb' }
const unknown = versionUnknown('kubelet', '1.36.3', ['1.35.4-1.1'])

function failing(reason: Reason): PackageManager {
  const stage = () => Promise.resolve({ ok: false, reason } as const)
  return tellingOfBundles({
    kind: 'apt',
    installed: () => Promise.resolve(new Map()),
    stage,
    stageUpgrade: stage,
    stageReturn: stage,
    jobArgv: () => [],
    missing: () => Promise.resolve(undefined),
    kubernetesRepositories: () => Promise.resolve([]),
    repositoryFiles: () => [],
  })
}

describe('what cannot be had', () => {
  it.each([
    [unknown, host, unknown],
    [
      unknown,
      bundle,
      { code: 'BundleIncomplete', message: 'the bundle does not hold kubelet 1.36.3; on offer: 1.35.4-1.1' },
    ],
    [
      { code: 'PackageConflict', message: 'a needs b' },
      bundle,
      { code: 'BundleIncomplete', message: 'from the bundle alone, a needs b' },
    ],
    [{ code: 'DiskTooFull', message: 'full' }, bundle, { code: 'DiskTooFull', message: 'full' }],
  ] as const)('%j from %j', async (reason, sources, told) => {
    const { signal } = new AbortController()
    const result = await failing(reason).stage({ folder: '/f', sources, wanted: [] }, signal)
    expect(result).toEqual({ ok: false, reason: told })
  })
})
