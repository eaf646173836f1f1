// What one Prometheus series is, and the closed sets of values that some of their labels have.

export interface Metric {
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly help: string
  /** The values each label can have; a text says what bounds them where they are names. */
  readonly labels?: Readonly<Record<string, readonly string[] | string>>
  /** Upper bounds, in seconds. */
  readonly buckets?: readonly number[]
}

/** What a step on a host belongs to. */
export const stepKinds = [
  ...['packages', 'kubeadm', 'kubelet', 'runtime', 'etcd', 'osimage', 'binary', 'profile', 'script', 'jobs'],
  ...['reboot', 'maintenance', 'control-plane', 'other'],
] as const

export const controllerNames = [
  ...(['nodes', 'updates', 'profiles', 'grants', 'schedules', 'maintenance', 'backups'] as const),
  ...(['health', 'silences', 'notifications'] as const),
] as const

export type StepKind = (typeof stepKinds)[number]
export type ControllerName = (typeof controllerNames)[number]
