import { expect, it } from 'vitest'
import { type PodDisruptionBudget, podDisruptionBudgets, pods } from '../../src/api/kube.ts'
import { type ContractBed, never } from './contract-bed.ts'

/** Evicting: what a PodDisruptionBudget holds back, and what it does not. */
export function evictionContract(bed: () => ContractBed): void {
  const labels = { app: 'shop' }
  const evict = (name: string, options = {}) => bed().api.evict(bed().ref(name), options, never)
  const isGoing = async (name: string) => {
    const pod = await bed().find(pods, bed().ref(name))
    return pod === undefined || pod.metadata.deletionTimestamp !== undefined
  }

  /** A budget whose status the disruption controller has made true for that many healthy pods. */
  const budget = async (name: string, healthy: number, spec: PodDisruptionBudget['spec']) => {
    const selector = { matchLabels: labels }
    await bed().api.create(podDisruptionBudgets, { metadata: bed().ref(name), spec: { selector, ...spec } }, never)
    await bed().eventually(podDisruptionBudgets, bed().ref(name), (found) => {
      return found?.status?.observedGeneration === 1 && found.status.currentHealthy === healthy
    })
  }

  it('without a budget is a graceful delete', async () => {
    await bed().pod('one', { labels })
    await evict('one', { gracePeriodSeconds: 7 })
    expect((await bed().api.get(pods, bed().ref('one'), never)).metadata.deletionGracePeriodSeconds).toBe(7)
  })

  it('refuses another pod of the same name, and one that is not there', async () => {
    const { uid } = (await bed().pod('one', { labels })).metadata
    const other = evict('one', { uid: '00000000-0000-4000-8000-000000000000' })
    await expect(other).rejects.toMatchObject({ code: 'Conflict', status: 409 })
    expect(await isGoing('one')).toBe(false)
    await evict('one', { uid })
    expect(await isGoing('one')).toBe(true)
    await expect(evict('none')).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('spends the budget, and is refused when it is spent', async () => {
    for (const name of ['one', 'two', 'three']) await bed().pod(name, { labels })
    await budget('shop', 3, { minAvailable: 2 })
    await evict('one')
    expect(await isGoing('one')).toBe(true)
    await expect(evict('two')).rejects.toMatchObject({
      code: 'TooManyRequests',
      status: 429,
      causes: [{ reason: 'DisruptionBudget' }],
    })
    expect(await isGoing('two')).toBe(false)
    const settled = await bed().eventually(podDisruptionBudgets, bed().ref('shop'), (found) => {
      return found?.status?.currentHealthy === 2 && Object.keys(found.status.disruptedPods ?? {}).length === 0
    })
    expect(settled?.status).toMatchObject({ disruptionsAllowed: 0, desiredHealthy: 2 })
  })

  it('allows again when the pods are back', async () => {
    for (const name of ['one', 'two']) await bed().pod(name, { labels })
    await budget('shop', 2, { minAvailable: 2 })
    await expect(evict('one')).rejects.toMatchObject({ code: 'TooManyRequests' })
    await bed().pod('three', { labels })
    const free = await bed().eventually(podDisruptionBudgets, bed().ref('shop'), (found) => {
      return found?.status?.disruptionsAllowed === 1
    })
    expect(free?.status).toMatchObject({ currentHealthy: 3 })
    await evict('one')
  })

  it('answers 500 for a pod under two budgets', async () => {
    await bed().pod('one', { labels })
    await budget('first', 1, { minAvailable: 0 })
    await budget('second', 1, { minAvailable: 0 })
    await expect(evict('one')).rejects.toMatchObject({ code: 'ServerError', status: 500 })
    expect(await isGoing('one')).toBe(false)
  })

  it('never holds back pods that run nothing', async () => {
    await bed().pod('running', { labels })
    await bed().pod('pending', { labels, phase: 'Pending' })
    await bed().pod('ended', { labels, phase: 'Succeeded', ready: false })
    await budget('shop', 1, { minAvailable: 5 })
    await expect(evict('running')).rejects.toMatchObject({ code: 'TooManyRequests' })
    await evict('pending')
    await evict('ended')
    expect(await isGoing('pending')).toBe(true)
    expect(await isGoing('ended')).toBe(true)
    await bed().api.delete(pods, bed().ref('running'), {}, never)
    await evict('running')
  })

  it.each([
    { policy: undefined, healthy: 2, goes: true },
    { policy: undefined, healthy: 1, goes: false },
    { policy: 'IfHealthyBudget' as const, healthy: 2, goes: true },
    { policy: 'IfHealthyBudget' as const, healthy: 1, goes: false },
    { policy: 'AlwaysAllow' as const, healthy: 1, goes: true },
  ])(
    'a pod that is not ready, $policy, $healthy healthy of 2 wanted: goes $goes',
    async ({ policy, healthy, goes }) => {
      await bed().pod('sick', { labels, ready: false })
      for (let i = 0; i < healthy; i++) await bed().pod(`well-${i}`, { labels })
      const spec = { minAvailable: 2, ...(policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy }) }
      await budget('shop', healthy, spec)
      if (goes) await evict('sick')
      else await expect(evict('sick')).rejects.toMatchObject({ code: 'TooManyRequests' })
      expect(await isGoing('sick')).toBe(goes)
    },
  )

  it('a budget selects nothing without a selector and everything with an empty one', async () => {
    await bed().pod('one', { labels })
    await bed().api.create(podDisruptionBudgets, { metadata: bed().ref('none'), spec: { minAvailable: 1 } }, never)
    await budget('all', 1, { minAvailable: 1, selector: {} })
    await expect(evict('one')).rejects.toMatchObject({ code: 'TooManyRequests' })
    await bed().api.delete(podDisruptionBudgets, bed().ref('all'), {}, never)
    await evict('one')
  })
}
