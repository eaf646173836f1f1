// What a look at the cluster brings for the checks, reduced on arrival: counts and a few names, however large it is.

export interface Sights {
  readonly api: Seen<ApiHealth>
  readonly deprecated: Seen<readonly DeprecatedUse[]>
  readonly stored: Seen<readonly StoredUse[]>
  readonly pods: Seen<PodSight>
  readonly webhooks: Seen<readonly WebhookSight[]>
  readonly heartbeats: Seen<Heartbeats>
}

/** What was seen, or why it could not be looked at. */
export type Seen<T> = { readonly seen: T } | { readonly unseen: string }

/** `failing`: what the API server says is not ready. */
export type ApiHealth = { readonly ready: true } | { readonly ready: false; readonly failing: string }

/** An API that somebody asked for since the API server that answered has started. */
export interface DeprecatedUse {
  /** `flowcontrol.apiserver.k8s.io/v1beta3 flowschemas` */
  readonly api: string
  /** The minor version of Kubernetes 1 without it. */
  readonly removedIn: number
}

/** Objects that somebody keeps through an API that goes. */
export interface StoredUse {
  readonly api: string
  readonly removedIn: number
  readonly objects: number
  readonly first: readonly string[]
}

export interface Amount {
  readonly cpu: number
  readonly memoryBytes: number
  readonly pods: number
}

export interface NodeLoad {
  /** What all its pods ask for. */
  readonly asked: Amount
  /** That of the pods that have to go elsewhere when it is drained. */
  readonly moving: Amount
  /** The one pod of these that asks for most. */
  readonly largestCpu: PodRequest
  readonly largestMemory: PodRequest
}

export interface PodRequest {
  readonly pod: string
  readonly amount: number
}

export interface BudgetSight {
  /** `shop/web` */
  readonly name: string
  /** Why the cluster cannot reckon it: then it allows nobody to go. */
  readonly unreckoned?: string
  /** Whether its status speaks of the budget as it is now. */
  readonly current: boolean
  readonly expectedPods: number
  readonly desiredHealthy: number
  /** Pods of it on nodes of the update, and one of them. */
  readonly pods: number
  readonly example: string
}

export interface PodSight {
  readonly loads: ReadonlyMap<string, NodeLoad>
  /** Those with pods on nodes of the update. */
  readonly budgets: readonly BudgetSight[]
  readonly underTwo: {
    readonly total: number
    readonly first: readonly { readonly pod: string; readonly budgets: readonly [string, string] }[]
  }
}

/** An admission webhook without which something that happens during an update is refused. */
export type WebhookSight = ServedWebhook | OutsideWebhook

interface AskedWebhook {
  /** `ValidatingWebhookConfiguration policy, webhook pods.policy.example` */
  readonly name: string
  /** What it is asked about, as `creating pods`. */
  readonly what: string
  /** Only some objects: by objectSelector or matchConditions. */
  readonly narrowed: boolean
}

/** One behind a service of the cluster. */
export interface ServedWebhook extends AskedWebhook {
  readonly service: string
  readonly ready: number
  /** The nodes its ready endpoints run on, two at most. */
  readonly nodes: readonly string[]
}

/** One behind an address that the API server asks; from where we are nobody can. */
export interface OutsideWebhook extends AskedWebhook {
  readonly url: string
}

export interface Heartbeats {
  /** Our clock when they were read. */
  readonly at: Date
  /** When each node's kubelet says it renewed its Lease. */
  readonly renewedAt: ReadonlyMap<string, string>
}
