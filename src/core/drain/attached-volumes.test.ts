import { describe, expect, it } from 'vitest'
import { metadata, samplePod } from '../../../test/samples/cluster-objects.ts'
import type { VolumeAttachment } from '../../api/kube-storage.ts'
import { claimsOf, leftBehind } from './attached-volumes.ts'

const attached = (name: string, persistentVolumeName?: string): VolumeAttachment => ({
  metadata: metadata(name),
  spec: { attacher: 'csi', nodeName: 'w1', source: persistentVolumeName === undefined ? {} : { persistentVolumeName } },
})

describe('volumes of pods that have left', () => {
  it('finds the claims of a pod, its own generic ones too', () => {
    const volumes = [
      { name: 'config', configMap: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
      { name: 'scratch', ephemeral: {} },
    ]
    expect(claimsOf(samplePod('db-0', { spec: { volumes } }))).toEqual(['shop/data-db-0', 'shop/db-0-scratch'])
    expect(claimsOf(samplePod('db-0', { spec: { volumes }, phase: 'Succeeded' }))).toEqual([])
    expect(claimsOf(samplePod('db-0'))).toEqual([])
  })

  it('waits for those that nobody who stays uses', () => {
    const attachments = [attached('csi-2', 'pv-2'), attached('csi-1', 'pv-1'), attached('csi-3', 'pv-3')]
    expect(leftBehind(attachments, new Set(['pv-2']))).toEqual([
      { volume: 'pv-1', attachment: 'csi-1' },
      { volume: 'pv-3', attachment: 'csi-3' },
    ])
  })

  it('does not wait for volumes that are written in a pod: whose they are cannot be told', () => {
    expect(leftBehind([attached('inline')], new Set())).toEqual([])
  })
})
