export interface InstallSettings {
  readonly namespace: string
  readonly image: string
  /** The agents are services of their hosts and speak as their kubelets do; else they are pods. */
  readonly hostService?: boolean
  /** DaemonSets whose lock the operator takes. */
  readonly locks?: readonly LockPlace[]
  /** Resources of other systems are carried out. */
  readonly foreign?: boolean
  /** Absent: everything. `reboots`: none of the rights that only upgrades of Kubernetes need, and agents that do nothing else. */
  readonly only?: 'reboots'
}

export interface LockPlace {
  readonly namespace: string
  readonly name: string
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}
