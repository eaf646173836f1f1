// The one catalogue of reasons: why something waits, failed or was refused. Status, Events, logs, CLI and console show these.

import { z } from 'zod'
import { instantText } from './scalars.ts'

type Catalogue = Readonly<Record<string, string>>

const waiting = {
  BudgetSpent: 'as many nodes are away as the budget allows; it goes on when one is back',
  BudgetAllowsNothing:
    'nodes that no operation of ours will bring back use the budget up; bring them back, or raise the budget',
  FailedNodesInTheWay:
    'nodes that failed keep what the next one needs; put them right, then slipway retry NAME (of a profile: --profile), or slipway release NODE',
  ForeignLockHeld: 'another tool holds its lock on the cluster’s nodes; it goes on when that one lets go',
  ForeignLockUnknown: 'the lock of another tool cannot be read, so nothing starts; the message says what is missing',
  NodeOnHold: 'a person keeps the node for themselves; slipway release NODE gives it back',
  PolicyPaused: 'MaintenancePolicy/default is paused; go on with slipway start --all',
  OutsideWindow:
    'no maintenance window is open; it goes on when the next opens, for an update also now with slipway run-now NAME --reason WHY',
  Frozen:
    'the cluster is frozen, for the reason given; it goes on afterwards, for an update also now with slipway run-now NAME --reason WHY',
  WindowTooShort:
    'a node would not be done before the window closes; it goes on in the next, for an update also now with slipway run-now NAME --reason WHY',
  WindowNeverOpens:
    'no window opens again that fits; correct spec.windows or spec.freezes; an update also goes on now with slipway run-now NAME --reason WHY',
  CalendarInvalid: 'a window or a freeze cannot be read, so nothing starts; the message says which and why',
  WaveSoaking: 'the wave is done and is looked at for its soak time; the next begins after that',
  ApprovalWanted: 'the wave is done and the next wants an approval; look at its nodes, then slipway approve NAME',
  UpdatePaused:
    'the update is paused: what is under work is finished, nothing new starts; go on with slipway resume NAME',
  UpdateCancelled: 'the update is cancelled: nothing new starts, nodes under work are finished or put back',
  FailuresReached:
    'more nodes failed than the update tolerates; look at them, then slipway retry NAME (of a profile: --profile)',
  NodeNotReady:
    'the node is not Ready, so it is not touched; bring it back, delete it, or leave it out by the selector',
  NodeHeldElsewhere: 'another operation holds this node; it goes on when that one ends',
  AgentMissing: 'no agent has reported from this node; is the agent DaemonSet running there?',
  ControlPlaneBusy: 'another control-plane node is away; only one may be at a time',
  ControlPlaneUnknown:
    'a control-plane node has not said how its API server and etcd are; it goes on when its agent answers',
  ApiServerNotReady: 'the API server of another control-plane node is not ready; one more must not go away',
  EtcdUnknown:
    'the members of etcd cannot be asked, so none is taken away; the message says what is in the way. A cluster without etcd (k3s on SQL) says so by spec.datastore of the policy',
  EtcdLearner: 'a member of etcd is a learner that catches up; it goes on when it is promoted or removed',
  EtcdAlarm: 'etcd has raised an alarm; free its space or repair the member, then disarm it',
  EtcdMemberMissing: 'a control-plane node runs etcd but is no member of the cluster; add it, or take etcd off it',
  EtcdQuorumAtStake: 'without this node too few members of etcd would be left to agree; bring the others back',
  ControlPlaneUnstated:
    'the API would be away while this node is, and the plan did not say so; delete the update and create it anew',
  NodesStaging: 'the next nodes fetch and check what they need; a node is drained only after that',
  WaitingForAgent: 'the order is written; the agent on that node has not accepted it yet',
  WaitingForHealth: 'the work is done; the node has not shown itself healthy again yet',
  GateWaiting: 'a gate does not hold yet, or is not known; its message says what is looked at',
  HookRunning: 'a hook runs; it goes on when that one ends',
  WaitingForUpdate: 'the profile has rollout ByUpdate: create a DirectUpdate with spec.profile to roll it out',
  RollCall:
    'etcd was restored, so what the API says is of the past: nothing starts before every agent has said what its host does. Bring the nodes named back, or delete them',
  HostKeyMissing: 'the agent has not published its key yet, so a Secret cannot be sealed to that host',
  BackupRunning: 'a backup of etcd is being made; the node is taken when it is stored and checked',
  BackupHostMissing:
    'no control-plane host can make a backup of etcd now; the message says what is the matter with each of them',
  BackupSecretMissing:
    'a Secret that a backup store or its encryption names is not there; create it, it goes on by itself',
} as const satisfies Catalogue

const draining = {
  PodEvicting: 'pods are asked to leave and go in good time; it goes on when the last has gone',
  PodsUnknown:
    'the pods of the node, or what keeps them, cannot be listed, so none is asked to leave; the message says what is in the way',
  PodTerminating: 'the pod is shutting down, for longer than its grace period; look at the kubelet of its node',
  PodStuck: 'the pod was told to go, but its node is not Ready and nobody confirms it; bring the node back',
  PodFinalizers: 'the pod has ended, but finalizers keep it; whoever set them must take them off',
  PodCompleting: 'a drain rule lets the pod run to its end; it is evicted when the rule’s timeout is over',
  PodSkipped: 'a drain rule leaves the pod where it is',
  PodDisruptionBudget: 'a PodDisruptionBudget allows no disruption now; bring the workload back to full health',
  PodWaitsItsTurn: 'the PodDisruptionBudget’s allowance goes first to a node that was taken earlier',
  PodUnderTwoBudgets: 'the API server never evicts a pod under two PodDisruptionBudgets; remove one of them',
  PodUnmanaged: 'nothing would make this pod again; delete it, or set drain.unmanagedPods to Delete',
  PodKeepsData: 'the pod keeps data in an emptyDir; set drain.emptyDir to Delete, or delete the pod',
  PodEvictionRefused: 'the API server refused the eviction; its message is quoted',
  PodMirror: 'a static pod; the kubelet owns it',
  PodOfDaemonSet: 'a DaemonSet pod; it belongs on every node',
  PodFinished: 'the pod has ended already',
  PodOfOperator: 'the operator itself; no other node can take it, so it stays',
  PodReturned:
    'the pod came back to the cordoned node, because it tolerates a cordon; asked to go once, it stays like a DaemonSet pod',
  PodForced: 'the pod is deleted in spite of what kept it, with its grace period, because the drain settings say so',
  PodRemoved:
    'the pod did not end within its grace period and is removed with none, because the drain settings say so; its processes may still run',
  VolumesAttached: 'the pods have left; their volumes are still attached to the node, so their successors cannot start',
  VolumesStuck:
    'volumes are not detached within drain.volumeTimeout; look at the CSI driver, or delete the VolumeAttachments named',
  DrainAborted:
    'the drain took longer than drain.timeout; the node was put back as it was, and counts as failed until it is retried',
  DrainTimedOut: 'the drain takes longer than drain.timeout; the pods named hold it up',
} as const satisfies Catalogue

const planning = {
  ScheduleInvalid: 'its time, cron expression or zone cannot be read, so nothing is made; correct the spec',
  UpdateNotMade:
    'the DirectUpdate of a schedule cannot be made: the API server refuses it, or another of its name is in the way; the message says which. It is tried again until startBy',
  ForeignNoted:
    'a resource of another system is carried out, but not all of it as it would be there; its annotation slipway.dev/message says what',
  ForeignRefused:
    'a resource of another system asks for what cannot be carried out; its status or its annotation slipway.dev/message says what',
  Planned: 'the update can be carried out',
  SkipUnknown: 'spec.skip names a node that is not there or not selected; correct the name',
  NothingSelected: 'no node matches the selector, or each that does is in spec.skip',
  Downgrade: 'a node already runs a newer version; Kubernetes cannot go back',
  VersionSkipsMinor:
    'the control plane goes one minor version at a time, and workers stay within three: what lies between must be on offer; list it in ConfigMap slipway-versions where no source knows it',
  VersionUnknown:
    'nobody offers such a version; check the package repositories of the hosts, or list versions in ConfigMap slipway-versions',
  DriverMissing: 'the agents on these nodes have no driver for this kind of work',
  KubeletWouldBeNewer: 'a kubelet must not be newer than its API server; upgrade the control plane first',
  ControlPlaneAway: 'the cluster has too few control-plane nodes for one to be away: its API will be away meanwhile',
  ScriptMissing: 'the ConfigMap with the script is not there, or has no key "script"',
  ScriptChanged: 'the script in the ConfigMap does not have the SHA-256 the update names',
  ProfileConflict: 'two NodeProfiles of the same priority want different things; change one of them or its priority',
  ProfileUnknown: 'the NodeProfile the update names is not there, or rolls out by itself',
  ProfileContradicted: 'the update and a NodeProfile want different things; change one of the two',
  ProfileSourceMissing: 'the ConfigMap or Secret a file of the profile comes from is not there, or lacks the key',
  ProfileSourceBinary:
    'a file of the profile comes from a Secret that holds no text (UTF-8); bring such a file in a package',
  ProfileTooLarge: 'what the profiles want of one node is larger than 900 KiB; move large files into a package',
  PreflightFailed:
    'checks made before the first node is touched failed; status.preflight has them all, spec.preflight.skip leaves one out',
  AgentOld: 'agents are older than the operator; let the agent DaemonSet roll out, or update the agents on the hosts',
  GateInvalid: 'a gate can never be looked at: its expression is broken; the message quotes where',
  RegistryUnreachable:
    'the registry of os.image gives no answer that can be used; it is asked again. Look at it, or let the hosts ask it by os.resolve: Host',
  RegistryRefused:
    'the registry does not let us look the image up, or has no such name; correct os.image or the credentials in spec.registries of the policy',
  RegistrySecretMissing:
    'the Secret of a registry is not in the operator’s namespace, or holds nothing for it; create it, or correct spec.registries of the policy',
  ImagePlatformMissing:
    'the image was not made for the architecture of a selected node; choose another image or fewer nodes',
  DisruptionRefused: 'the change needs a reboot, and the profile allows none; set spec.disruption to Auto or Reboot',
  BackupStoreMissing:
    'the update needs a backup of etcd, and MaintenancePolicy/default has no such store; add it to spec.backupStores',
  BackupScheduleInvalid:
    'cron expression or zone of a backup store cannot be read, so nothing is scheduled; correct it',
} as const satisfies Catalogue

const outcome = {
  Succeeded: 'every node is done',
  InProgress: 'nodes are being worked on',
  Paused: 'nothing new starts until the update is resumed',
  Cancelled: 'the update was cancelled; nodes it had not finished are as they were',
  OperationTimedOut:
    'the update took longer than operationTimeout; raise it, or slipway retry NAME gives it the same time again',
  Deleting: 'the update is being deleted; its nodes are put back',
  NodesFailed: 'more nodes failed than the update tolerates',
  StepFailed: 'a step on the host failed; its last lines are quoted, and slipway logs NODE has more',
  StepTimedOut: 'a step on the host took longer than it may; it was ended',
  StepStuck:
    'a program on the host was told to end and does not, also not by SIGKILL: as a rule the storage it waits for is gone. Bring that back or boot the host; nothing starts beside it meanwhile',
  GateFailed:
    'a gate did not hold, or was not known, within its time-out; put right what it names: before a node it then goes on by itself',
  HookFailed:
    'a hook failed or took too long, and it says Stop; look at its Job or its server, then slipway retry NAME',
  CleanupFailed: 'the clean-up of a hook failed; it is not run again: undo by hand what the hook did',
  OrderTimedOut:
    'the agent has not taken or not finished its order within nodeTimeout; nothing is assumed, and a node that was cordoned stays so',
  OrderRefused: 'the agent refused the order; its reason is quoted',
  LeftBehind: 'something of ours is on a node where nothing of ours works; the message says what it waits for',
  CordonMarkLost:
    'our mark on a cordon was taken off, so it counts as a person’s and stays; uncordon the node yourself',
  OrderWithdrawn: 'the order was withdrawn before it ended',
  JournalCorrupt: 'the journal on the host is damaged; nothing is guessed: look at the file named',
  JournalUnwritable: 'the journal on the host cannot be written, so nothing is started; free the disk or repair it',
  ContentMismatch: 'what was fetched does not have the SHA-256 the order names',
  PackageManagerMissing: 'the host has no package manager that we know; on image-based hosts name os.image',
  PackageMissing:
    'what is to be upgraded was not installed as a package on this host; upgrade it by the field binary of the update',
  ToolMissing: 'a program the work needs is not on the host; the message says which',
  ImageMissing: 'a container image the work needs cannot be had; the registry’s answer is quoted',
  RuntimeUnknown: 'the host’s container runtime is none that we can upgrade, or was not installed as a package',
  EtcdUnhealthy: 'another member of etcd is not healthy, so this one is not touched; bring that one back first',
  BinaryBroken: 'the program that was fetched does not run on this host; is it for another architecture?',
  KubeletFlagRemoved:
    'a file on the host gives the kubelet a flag that the target version no longer knows; take it out of the file named',
  StagingFailed: 'what the work needs could not be fetched and checked on the host, so the node was not touched',
  MaintenanceFailed:
    'the maintenance script says that it failed; the node stays cordoned until it is run again and removes its request',
  LogMissing: 'the host has no such log: the order is not known there, its step wrote nothing, or it was cleared away',
  RepositoryUntrusted: 'a package repository is not signed by the key the host trusts; nothing of it was used',
  RepositoryMissing: 'a package repository is not at its address; correct its entry on the host or in the profile',
  PackageHeld: 'a package a person holds back on the host would have to change; release the hold, or leave it out',
  PackageConflict: 'the packages cannot be installed together; the package manager’s words are quoted',
  PackagesBroken:
    'an earlier installation left packages broken that this work can neither replace nor repair; repair them on the host',
  PackageLockHeld:
    'another program has the package manager’s lock; it is named. It is waited for: the step fails if that one keeps it for too long',
  DownloadRefused:
    'the server does not hand out what the order names, or it is larger than it may be; its answer is quoted',
  DiskTooFull: 'the host’s disk has no room for what the work needs; free some, then try again',
  BundleMissing: 'no bundle lies at the path that the update names on this host; put it there',
  BundleBroken:
    'the bundle is not whole, not what its manifest says, or not for this host; check it with slipway bundle verify FILE',
  BundleIncomplete: 'the bundle does not hold what the work needs; add what is named and make it anew',
  RebootMissing: 'the machine was asked to reboot and did not',
  RolledBack: 'the work failed and what it had done was undone: repair the cause, then retry',
  UndoFailed:
    'the work failed, and so did undoing it, so the host is between the two: look at both steps and put the host right, then retry',
  PointOfNoReturn:
    'the work failed after a step that cannot be undone; nothing before that step was undone: repair the cause, then retry',
  Drifted: 'the host is not as its NodeProfiles want it',
  DrainNeeded:
    'the host has drifted in what only a drained node may have put right; the change goes on there by itself, with a drain',
  PathTaken: 'what lies at a path of the profile cannot be replaced and put back; move it away or take the path out',
  UnitFailed: 'a systemd unit does not do what the profile asks for; journalctl -u UNIT on the host says why',
  SettingRefused: 'the kernel of the host does not take a setting of the profile',
  SecretUnreadable: 'a sealed file was not made for this host, or was changed on the way',
  FencedOff: 'the order is not for this machine, this boot or this time; it was not run',
  ImageUnknown: 'the registry has no such image for this host; check name, tag and digest in os.image',
  ImageUntrusted:
    'the image is not signed with the key that os.verify.key names, or not as the host’s own origin asks, so it is not installed',
  ImageTooLarge: 'the host has not enough free space for the image; free some, or enlarge its disk',
  ImageToolMissing:
    'the host has none of rpm-ostree, bootc and ostree with its container command, or no skopeo; os.image is for image-based hosts',
  ImageToolFailed: 'the host’s image tool failed; what it said is quoted',
  ImageKubernetesOther:
    'the image brings another Kubernetes than the update names, or a newer minor version that it does not name; correct os.image or kubernetes.version',
  ImageNotBooted: 'the machine was booted into the new image and came back with another one',
  ImageUnhealthy: 'the new image was booted, but its kubelet does not stay up',
  ImageRolledBack: 'the new image did not become healthy in time; the host went back to the previous one by itself',
  KernelArgumentsUnsupported: 'the host has no tool we know that sets kernel arguments; set them in its image',
  StoreUnreachable:
    'the backup store does not answer, breaks off or has a fault of its own; look at its address, the network and the server',
  StoreRefused:
    'the backup store refuses: its credentials, its bucket or its room; its answer is quoted. Put that right, then ask again',
  SnapshotBroken:
    'etcd broke its snapshot off, or it does not have the hash etcd gave it; look at etcd, then ask again',
  EtcdLagging:
    'the member of etcd on this host is behind the others and does not catch up, so no backup is made of it; bring it up to date. One that catches up is waited for, one that stands still is EtcdUnknown, one cut off from a majority EtcdUnhealthy',
  BackupDamaged:
    'what the store gives back is not what was stored, or the backup is not whole; use another one, and look at the store',
  BackupKeyWrong: 'the key does not open the backup, or is no key of its kind; give the one it was made with',
  BackupTimedOut: 'the backup took longer than it may, and was given up; the store or etcd is too slow',
  BackupNotMade: 'the backup could not be made on this host; the message says what stood in the way',
  BackupFailed:
    'a backup of etcd failed on every host it was asked of; repair the store or the host that is named, then slipway retry NAME',
  RestoreFailed:
    'etcd could not be restored on this host; the message says at which step. slipway backup restore again goes on, with --undo it goes back',
  NotificationFailed:
    'a receiver of spec.notifications of the policy could not be told; the message says what it answered. Correct its address or bring it back: what comes later is told',
  SilenceFailed:
    'Alertmanager did not take a silence for a node under work, so its alerts ring; the message says what it answered. The work goes on',
  ApiServersNotReady: 'an API server is not ready, or its host has not said; look at the nodes that are named',
  NodesNotReady: 'nodes that nobody works on are not Ready; look at those that are named',
  CertificatesRunOut:
    'a certificate of the control plane runs out within 30 days; renew it with kubeadm certs renew all, or upgrade. An authority is renewed by neither: rotate it by hand',
  BackupsMissing:
    'a backup store with a schedule has no backup that is newer than two of its turns; slipway backup list shows what there is',
  RestoreUnproven:
    'the backup was stored but could not be restored into a scratch etcd, so it does not count; the message says why',
} as const satisfies Catalogue

/** Each code with what it means and what a person can do; docs/reference/reasons.md is generated from this. */
export const reasonGroups = { waiting, draining, planning, outcome } as const

export const reasonCatalogue = { ...waiting, ...draining, ...planning, ...outcome } as const

export type ReasonCode = keyof typeof reasonCatalogue

export function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(reasonCatalogue, text)
}

export const reasonSchema = z.strictObject({
  code: z.enum(Object.keys(reasonCatalogue) as [ReasonCode, ...ReasonCode[]]),
  /** One sentence for a person: what, where, and what to look at. */
  message: z.string().max(4096),
  since: instantText.optional(),
  nextCheck: instantText.optional(),
})

export type Reason = z.infer<typeof reasonSchema>
