import type { StepKind } from '../../api/metric.ts'

/** The first that fits; what agents call a step is theirs to say, so anything else is `other`. */
const kinds: readonly (readonly [RegExp, StepKind])[] = [
  [/^(job-|.*-done$)/, 'jobs'],
  [/^profile-/, 'profile'],
  [/^(upgrade-control-plane|upgrade-node|check-certificates|install-kubeadm|fetch-old-kubeadm)$/, 'kubeadm'],
  [/^(settle-control-plane|move-etcd-leader)$/, 'control-plane'],
  [/(kubelet|removed-flags)/, 'kubelet'],
  [/(runtime)/, 'runtime'],
  [/(etcd)/, 'etcd'],
  [/(image|boot-guard)/, 'osimage'],
  [/(binary)/, 'binary'],
  [/(packages|repository|kubectl)/, 'packages'],
  [/^(script|validate)/, 'script'],
  [/^reboot/, 'reboot'],
  [/^maintenance/, 'maintenance'],
]

/** Which driver a step belongs to, by its name. */
export function stepKind(name: string): StepKind {
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}
