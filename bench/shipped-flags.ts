// The flags Node is given in the manifests we ship: memory is measured with these.

import type { Manifest } from '../src/cli/install/manifest.ts'
import { agentDaemonSet, operatorDeployment } from '../src/cli/install/workloads.ts'

interface Workload {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly command?: string[] }[] } }
  }
}

const settings = { namespace: 'slipway-system', image: 'slipway' }

export function agentNodeFlags(): readonly string[] {
  return flagsOf(agentDaemonSet(settings))
}

export function operatorNodeFlags(): readonly string[] {
  return flagsOf(operatorDeployment(settings))
}

function flagsOf(manifest: Manifest): readonly string[] {
  const { spec } = manifest as Manifest & Workload
  return spec.template.spec.containers[0]?.command?.filter((word) => word.startsWith('--')) ?? []
}
