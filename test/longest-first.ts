// The order in which test files are taken up. By themselves the small files come last, and some of the smallest run for longest:
// one that starts last keeps the other half of the machine waiting.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longest = [
  'release/release',
  'apiserver/chart-life',
  'apiserver/gates',
  'apiserver/five-writers',
  'apiserver/telling',
  'faults/fault-runs',
  'faults/mutations',
  'apiserver/preview',
  'apiserver/checkpoints',
  'proof/exhaustive.test',
  'apiserver/compat',
  'apiserver/schedules',
  'apiserver/drain.test',
  'faults/remembered-seeds',
  'apiserver/rollout',
  'proof/exhaustive-teeth',
  'apiserver/waves',
  'apiserver/upgrade',
  'proof/preview',
  'apiserver/command-line',
  'apiserver/os-images',
  'faults/shrink',
  'apiserver/housekeeper',
  'apiserver/preflight',
  'apiserver/bad-input',
  'apiserver/outage',
  'apiserver/deletion',
  'e2e/full/ha-upgrade',
  'e2e/full/two-minor',
  'conformance/quick/kubeadm',
  'e2e/os-image',
  'e2e/upgrade-under-fire',
  'e2e/kubernetes-upgrade',
  'conformance/quick/osimage',
  'conformance/full/osimage',
  'e2e/full/os-bed',
  'e2e/image-host',
  'conformance/quick/profile-kernel',
  'conformance/quick/runtime',
  'conformance/quick/packages',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = longest.findIndex((path) => moduleId.includes(`/test/${path}`))
  return found < 0 ? longest.length : found
}
