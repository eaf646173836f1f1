/** What a client shows to the API server to say who it is. */
export interface KubeCredential {
  /** The value of the Authorization header. */
  readonly authorization?: string
  /** A client certificate and its key, PEM. */
  readonly certificate?: { readonly certificate: string; readonly key: string }
}

/** What others renew while we run. */
export interface Renewable<T> {
  /** What counts now; cheap while nothing has to be renewed. */
  current(signal: AbortSignal): Promise<T>
  /** It did not hold: get it afresh next time. */
  refused(): void
}

export type KubeCredentials = Renewable<KubeCredential>

/** Where an API server is and how to be believed by it: from a kubeconfig, or from within a cluster. */
export interface KubeConnection {
  /** `https://host:port`, with a path where the API is served below one. */
  readonly server: string
  /** PEM; absent = the authorities the system trusts. */
  readonly authority?: Renewable<string>
  readonly insecureSkipTlsVerify?: boolean
  /** The name the server's certificate must be for, where it is not the host of `server`. */
  readonly tlsServerName?: string
  /** `http:` or `https:` */
  readonly proxyUrl?: string
  /** What a person calls it: the context of the kubeconfig. */
  readonly context?: string
  /** The namespace of the context, or of the pod. */
  readonly namespace?: string
  readonly credentials: KubeCredentials
}
