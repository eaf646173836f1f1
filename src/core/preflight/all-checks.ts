import { agents } from './agents.ts'
import { apiReady } from './api-ready.ts'
import { bundle } from './bundle.ts'
import { capacity } from './capacity.ts'
import { certificates } from './certificates.ts'
import type { Check } from './check.ts'
import { clockSkew } from './clock-skew.ts'
import { controlPlaneEndpoint } from './control-plane-endpoint.ts'
import { diskSpace } from './disk-space.ts'
import { disruptionBudgets } from './disruption-budgets.ts'
import { kubeletFlags } from './kubelet-flags.ts'
import { memoryPressure } from './memory-pressure.ts'
import { nodesReady } from './nodes-ready.ts'
import { packageVersion } from './package-version.ts'
import { podsUnderTwoBudgets } from './pods-under-two-budgets.ts'
import { policyBudgets } from './policy-budgets.ts'
import { removedApisInUse } from './removed-apis-in-use.ts'
import { sources } from './sources.ts'
import { targetRequirements } from './target-requirements.ts'
import { versionPath } from './version-path.ts'
import { versionSkew } from './version-skew.ts'
import { webhooks } from './webhooks.ts'

/** In the order in which their answers are told. */
export const allChecks: readonly Check[] = [
  agents,
  versionPath,
  packageVersion,
  apiReady,
  nodesReady,
  diskSpace,
  memoryPressure,
  versionSkew,
  targetRequirements,
  kubeletFlags,
  removedApisInUse,
  disruptionBudgets,
  podsUnderTwoBudgets,
  capacity,
  certificates,
  sources,
  bundle,
  clockSkew,
  controlPlaneEndpoint,
  webhooks,
  policyBudgets,
]
