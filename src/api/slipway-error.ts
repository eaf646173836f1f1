import type { Reason } from './reason.ts'

/** Those that are no reasons of the catalogue. */
type OwnCode =
  | 'Usage'
  | 'KubeconfigMissing'
  | 'KubeconfigBroken'
  | 'CannotReach'
  | 'NotPermitted'
  | 'CrdsMissing'
  | 'CrdsOutdated'
  | 'InstalledElsewhere'
  | 'ManagedByHelm'
  | 'NotReadyInTime'
  | 'NotGoneInTime'
  | 'NotFound'
  | 'Refused'
  | 'ReleaseUntrusted'
  | 'ReleaseBroken'
  | 'DiskFull'
  | 'DiskNotFound'
  | 'DiskFailed'
  | 'CommandTimedOut'
  | 'NotLeader'
  | 'AnotherAgent'
  | 'StartedElsewhere'
  | 'Stopped'
  | 'Internal'

export type SlipwayErrorCode = OwnCode | Reason['code']

/** What to do where the one who failed knows nothing better. Of reasons the catalogue says it. */
const remedies: Readonly<Record<OwnCode, string>> = {
  Usage: 'look at the command’s --help',
  KubeconfigMissing: 'pass --kubeconfig FILE or set KUBECONFIG',
  KubeconfigBroken: 'correct the kubeconfig, or pass another with --kubeconfig',
  CannotReach: 'check the address and the network between here and there, then try again',
  NotPermitted: 'ask for the right that is missing, or use other credentials',
  CrdsMissing: 'run: slipway install',
  CrdsOutdated: 'run: slipway install',
  NotFound: 'check the name; look at what there is with slipway status and slipway nodes',
  Refused: 'put right what is named, then try again',
  ReleaseUntrusted: 'do not use it; get it, and the key, from where it was published',
  ReleaseBroken: 'do not use it; download it again',
  InstalledElsewhere: 'use the installation that is there, or remove it first: slipway uninstall --yes',
  ManagedByHelm: 'use helm upgrade or helm uninstall: the release is Helm’s',
  NotReadyInTime: 'look at the pods of the operator and the agents: kubectl -n slipway-system get pods',
  NotGoneInTime: 'look at what is left and at its finalizers, then run it again',
  DiskFull: 'free space on the disk, then try again',
  DiskNotFound: 'check the path, and that it is mounted',
  DiskFailed: 'look at the file and the disk it is on: dmesg, journalctl',
  CommandTimedOut: 'look on the host why it hangs, then try again',
  NotLeader: 'nothing: another operator leads and goes on',
  AnotherAgent:
    'look on the host which agents run there (pgrep -af slipway), and leave one: the DaemonSet’s, or the host’s service',
  StartedElsewhere: 'look on the host who started it, and leave one agent there',
  Stopped: 'run it again when you are ready',
  Internal: 'run it again with --debug and report what it prints',
}

interface ErrorDetail {
  readonly nextStep?: string
  readonly cause?: unknown
  readonly retryAfterMs?: number | undefined
  readonly path?: string
}

/** Every failure of ours: a code, what happened (the message), and what to do next; `nextStep` is absent for reasons alone. */
export class SlipwayError extends Error {
  readonly code: SlipwayErrorCode
  readonly nextStep: string | undefined
  /** When to ask again, where the one who was asked said so. */
  readonly retryAfterMs: number | undefined
  /** Of errors of the disk: the file or folder. */
  readonly path: string | undefined

  constructor(code: SlipwayErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'SlipwayError'
    this.code = code
    this.nextStep = detail.nextStep ?? (isOwn(code) ? remedies[code] : undefined)
    this.retryAfterMs = detail.retryAfterMs
    this.path = detail.path
  }
}

function isOwn(code: SlipwayErrorCode): code is OwnCode {
  return Object.hasOwn(remedies, code)
}
