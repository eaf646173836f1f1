// What it refuses is in the table of plan-update.test.ts, by the reasons users know.
import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { versionPath } from './version-path.ts'

describe('the check VersionPath', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['one minor up', {}, 'Passed: every node can go to v1.36.3'],
    ['no Kubernetes work', { spec: justReboot }, undefined],
    [
      'skipped',
      { spec: { kubernetes: { version: 'v1.34.0' }, preflight: { skip: ['VersionPath'] } } },
      'Skipped: skipped; it would have said Failed: c1 runs v1.35.4, which is newer than v1.34.0',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(versionPath, traits)).toBe(answer))
})
