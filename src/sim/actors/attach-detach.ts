import { type Pod, pods as podType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import {
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  type VolumeAttachment,
  volumeAttachments,
} from '../../api/kube-storage.ts'
import { type ActorContext, hasEnded } from './actor.ts'
import { keyOf } from './following.ts'
import { KeyedWork } from './keyed-work.ts'

const attacher = 'csi.pretend'
/** From the last pod's end until its volume is free. */
const detachMs = 3_000

/** Attaches the volumes of pods to their nodes and detaches them when no pod there uses them; a finalizer holds that up. */
export function startAttachDetach(context: ActorContext): void {
  const { api, clock, signal } = context
  const pods = context.following(podType)
  const claims = context.following(persistentVolumeClaims)
  const attachments = context.following(volumeAttachments)
  const work = new KeyedWork({ ...context, delayMs: 5, work: reconcile, failed: context.failed })
  /** Pods with claims, by claim. */
  const users = new Map<string, Map<string, Pod>>()

  pods.subscribe((after, before) => {
    const pod = after ?? before
    if (pod === undefined) return
    for (const claim of claimsOf(pod)) {
      const known = users.get(claim) ?? new Map<string, Pod>()
      if (after === undefined || hasEnded(after)) known.delete(pod.metadata.uid)
      else known.set(pod.metadata.uid, after)
      users.set(claim, known)
      work.mark(claim)
    }
  })
  claims.subscribe((after) => after && work.mark(keyOf(after)))

  async function reconcile(claim: string): Promise<void> {
    const volume = (claims.get(claim) as PersistentVolumeClaim | undefined)?.spec.volumeName
    if (volume === undefined) return
    const wanted = new Set([...(users.get(claim)?.values() ?? [])].flatMap(({ spec }) => spec.nodeName ?? []))
    const present = [...attachments.values()].filter(({ spec }) => spec.source.persistentVolumeName === volume)
    for (const node of wanted) {
      if (!present.some(({ spec }) => spec.nodeName === node)) await attach(volume, node)
    }
    for (const attachment of present) {
      const isIdle = !wanted.has(attachment.spec.nodeName) && attachment.metadata.deletionTimestamp === undefined
      if (isIdle) clock.after(detachMs, () => void detach(claim, attachment).catch(context.failed))
    }
  }

  async function attach(volume: string, nodeName: string): Promise<void> {
    const spec = { attacher, nodeName, source: { persistentVolumeName: volume } }
    try {
      const made = await api.create(
        volumeAttachments,
        { metadata: { name: `csi-${volume}-${nodeName}` }, spec },
        signal,
      )
      attachments.learn(made)
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
  }

  async function detach(claim: string, { metadata, spec }: VolumeAttachment): Promise<void> {
    const isUsed = [...(users.get(claim)?.values() ?? [])].some((pod) => pod.spec.nodeName === spec.nodeName)
    if (signal.aborted || isUsed) return
    try {
      await api.delete(volumeAttachments, { name: metadata.name }, { uid: metadata.uid }, signal)
    } catch (error) {
      if (signal.aborted || isKubeError(error, 'NotFound', 'Conflict')) return
      if (!isKubeError(error)) throw error
      work.mark(claim)
    }
  }
}

function claimsOf({ metadata, spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [`${metadata.namespace}/${persistentVolumeClaim.claimName}`] : [],
  )
}
