import { expect, it } from 'vitest'
import { pods } from '../../src/api/kube.ts'
import { persistentVolumeClaims, type VolumeAttachment, volumeAttachments } from '../../src/api/kube-storage.ts'
import { type ContractBed, never, nowhere } from './contract-bed.ts'

const finalizer = 'slipway.dev/contract'

/** What a drain reads of volumes, and how far a pod can be made to go. */
export function storageContract(bed: () => ContractBed): void {
  const attach = (name: string, finalizers: readonly string[] = []): Promise<VolumeAttachment> => {
    const source = { persistentVolumeName: `${name}-volume` }
    const spec = { attacher: 'csi.contract', nodeName: nowhere, source }
    return bed().api.create(volumeAttachments, { metadata: { name, finalizers }, spec }, never)
  }

  it('a VolumeAttachment names its volume and node, and goes when its attacher lets go', async () => {
    const name = `${bed().namespace}-held`
    const made = await attach(name, [finalizer])
    expect(made.spec).toMatchObject({ nodeName: nowhere, source: { persistentVolumeName: `${name}-volume` } })
    await bed().api.delete(volumeAttachments, { name }, { uid: made.metadata.uid }, never)
    const held = await bed().api.get(volumeAttachments, { name }, never)
    expect(held.metadata.deletionTimestamp).toBeDefined()
    const body = { metadata: { finalizers: null } }
    await bed().api.patch(volumeAttachments, { name }, { type: 'merge', body }, never)
    expect(await bed().find(volumeAttachments, { name })).toBeUndefined()
  })

  it('a claim tells its volume', async () => {
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      volumeName: 'contract-volume',
    }
    await bed().api.create(persistentVolumeClaims, { metadata: bed().ref('data'), spec }, never)
    const claim = await bed().api.get(persistentVolumeClaims, bed().ref('data'), never)
    expect(claim.spec.volumeName).toBe('contract-volume')
  })

  it('a pod with a finalizer stays when its kubelet has let it go, with no grace left', async () => {
    const { uid } = (await bed().pod('kept')).metadata
    const patch = (finalizers: readonly string[] | null) =>
      bed().api.patch(pods, bed().ref('kept'), { type: 'merge', body: { metadata: { finalizers } } }, never)
    await patch([finalizer])
    await bed().api.delete(pods, bed().ref('kept'), { uid }, never)
    expect((await bed().api.get(pods, bed().ref('kept'), never)).metadata.deletionGracePeriodSeconds).toBe(20)
    await bed().api.delete(pods, bed().ref('kept'), { uid, gracePeriodSeconds: 0 }, never)
    const kept = await bed().api.get(pods, bed().ref('kept'), never)
    expect(kept.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: [finalizer] })
    await patch(null)
    expect(await bed().find(pods, bed().ref('kept'))).toBeUndefined()
  })
}
