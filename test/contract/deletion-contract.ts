import { expect, it } from 'vitest'
import { type ConfigMap, configMaps, pods } from '../../src/api/kube.ts'
import { type ContractBed, never } from './contract-bed.ts'

const finalizer = 'slipway.dev/contract'

/** Going: preconditions, finalizers, owners, and the grace of pods. */
export function deletionContract(bed: () => ContractBed): void {
  const gone = (found: unknown): boolean => found === undefined
  const owner = (of: ConfigMap, block = false) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: of.metadata.name,
    uid: of.metadata.uid,
    ...(block ? { blockOwnerDeletion: true } : {}),
  })
  const make = (name: string, metadata: Partial<ConfigMap['metadata']> = {}) =>
    bed().api.create(configMaps, { metadata: { ...bed().ref(name), ...metadata } }, never)

  it('deletes only what the preconditions name', async () => {
    const made = await make('one')
    const remove = (options: { uid?: string; resourceVersion?: string }) =>
      bed().api.delete(configMaps, bed().ref('one'), options, never)
    await expect(remove({ uid: '00000000-0000-4000-8000-000000000000' })).rejects.toMatchObject({ code: 'Conflict' })
    await expect(remove({ resourceVersion: '1' })).rejects.toMatchObject({ code: 'Conflict' })
    await remove({ uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion })
    await expect(remove({})).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('waits for finalizers, and takes no new ones', async () => {
    await make('one', { finalizers: [finalizer] })
    await bed().api.delete(configMaps, bed().ref('one'), {}, never)
    const held = await bed().api.get(configMaps, bed().ref('one'), never)
    expect(held.metadata.deletionTimestamp).toBeDefined()
    const patch = (finalizers: readonly string[]) =>
      bed().api.patch(configMaps, bed().ref('one'), { type: 'merge', body: { metadata: { finalizers } } }, never)
    await expect(patch([finalizer, 'slipway.dev/another'])).rejects.toMatchObject({ code: 'Invalid' })
    await patch([])
    expect(await bed().find(configMaps, bed().ref('one'))).toBeUndefined()
  })

  it('collects what is owned by something gone, by uid, unless another owner lives', async () => {
    const first = await make('first')
    const second = await make('second')
    await make('child', { ownerReferences: [owner(first)] })
    await make('shared', { ownerReferences: [owner(first), owner(second)] })
    await bed().api.delete(configMaps, bed().ref('first'), { propagation: 'Background' }, never)
    await bed().eventually(configMaps, bed().ref('child'), gone)
    expect(await bed().find(configMaps, bed().ref('shared'))).toBeDefined()
  })

  it('collects what names an owner that was never there', async () => {
    const first = await make('first')
    const ownerReferences = [{ ...owner(first), uid: '00000000-0000-4000-8000-000000000000' }]
    await make('child', { ownerReferences })
    await bed().eventually(configMaps, bed().ref('child'), gone)
    expect(await bed().find(configMaps, bed().ref('first'))).toBeDefined()
  })

  it('keeps orphans where asked to', async () => {
    const first = await make('first')
    await make('child', { ownerReferences: [owner(first)] })
    await bed().api.delete(configMaps, bed().ref('first'), { propagation: 'Orphan' }, never)
    await bed().eventually(configMaps, bed().ref('first'), gone)
    const child = await bed().api.get(configMaps, bed().ref('child'), never)
    expect(child.metadata.ownerReferences ?? []).toEqual([])
  })

  it('deletes in the foreground: the owner goes after those that hold it', async () => {
    const first = await make('first')
    await make('child', { ownerReferences: [owner(first, true)], finalizers: [finalizer] })
    await bed().api.delete(configMaps, bed().ref('first'), { propagation: 'Foreground' }, never)
    await bed().eventually(configMaps, bed().ref('child'), (child) => child?.metadata.deletionTimestamp !== undefined)
    expect(await bed().find(configMaps, bed().ref('first'))).toBeDefined()
    const body = { metadata: { finalizers: [] } }
    await bed().api.patch(configMaps, bed().ref('child'), { type: 'merge', body }, never)
    await bed().eventually(configMaps, bed().ref('first'), gone)
  })

  it('lets a pod on a node go gracefully: the kubelet takes it away', async () => {
    const { uid } = (await bed().pod('pod')).metadata
    await bed().api.delete(pods, bed().ref('pod'), { uid }, never)
    const going = await bed().api.get(pods, bed().ref('pod'), never)
    expect(going.metadata).toMatchObject({ deletionGracePeriodSeconds: 20 })
    expect(going.metadata.deletionTimestamp).toBeDefined()
    await bed().api.delete(pods, bed().ref('pod'), { gracePeriodSeconds: 5 }, never)
    const sooner = await bed().api.get(pods, bed().ref('pod'), never)
    expect(sooner.metadata.deletionGracePeriodSeconds).toBe(5)
    await bed().api.delete(pods, bed().ref('pod'), { gracePeriodSeconds: 30 }, never)
    expect((await bed().api.get(pods, bed().ref('pod'), never)).metadata.deletionGracePeriodSeconds).toBe(5)
    await bed().api.delete(pods, bed().ref('pod'), { gracePeriodSeconds: 0, uid }, never)
    expect(await bed().find(pods, bed().ref('pod'))).toBeUndefined()
  })

  it('removes a pod without a node, or one that has ended, at once', async () => {
    const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'none' }] }
    await bed().api.create(pods, { metadata: bed().ref('placeless'), spec }, never)
    await bed().pod('ended', { phase: 'Succeeded', ready: false })
    for (const name of ['placeless', 'ended']) {
      await bed().api.delete(pods, bed().ref(name), {}, never)
      expect(await bed().find(pods, bed().ref(name))).toBeUndefined()
    }
  })
}
