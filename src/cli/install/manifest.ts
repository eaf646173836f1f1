export interface InstallSettings {
  readonly namespace: string
  readonly image: string
  /** The agents are services of their hosts and speak as their kubelets do; else they are pods. */
  readonly hostService?: boolean
  /** DaemonSets whose lock the operator takes. */
  readonly locks?: readonly LockPlace[]
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
  }
  readonly [field: string]: unknown
}
