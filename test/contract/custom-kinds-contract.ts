import { afterEach, expect, it } from 'vitest'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../src/api/direct-update.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { type ContractBed, never } from './contract-bed.ts'

/** Our own kinds: strict fields, shapes, rules, and a status apart from the spec. */
export function customKindsContract(bed: () => ContractBed): void {
  const made: DirectUpdate[] = []
  afterEach(async () => {
    for (const update of made.splice(0)) {
      await bed()
        .api.delete(directUpdates, { name: update.metadata.name }, {}, never)
        .catch((error: unknown) => {
          if (!isKubeError(error, 'NotFound')) throw error
        })
    }
  })
  const create = async (spec: DirectUpdateSpec | Record<string, unknown>) => {
    const object = { metadata: { generateName: 'contract-' }, spec: spec as DirectUpdateSpec }
    const update = await bed().api.create(directUpdates, object, never)
    made.push(update)
    return update
  }
  const kubernetes = { version: 'v1.36.3' }

  it.each([
    ['an unknown field', { kubernetes, nonsense: 1 }, 'nonsense'],
    ['an unknown field deep down', { kubernetes: { ...kubernetes, nonsense: 1 } }, 'nonsense'],
    ['nothing to do', {}, 'spec'],
    ['a budget of nothing', { kubernetes, strategy: { maxUnavailable: 0 } }, 'maxUnavailable'],
    ['a bad duration', { kubernetes, nodeTimeout: 'soon' }, 'nodeTimeout'],
    ['a duration of nothing', { kubernetes, nodeTimeout: '0s' }, 'nodeTimeout'],
    ['a bad version', { kubernetes: { version: 'newest' } }, 'version'],
    [
      'a selector without values',
      { kubernetes, nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      'matchExpressions',
    ],
  ])('refuses %s and names the field', async (_, spec, field) => {
    const refused = create(spec)
    await expect(refused).rejects.toMatchObject({ code: 'Invalid' })
    await expect(refused).rejects.toThrow(field)
  })

  it('keeps spec and status apart, and counts generations', async () => {
    const first = await create({ kubernetes })
    expect(first.metadata.generation).toBe(1)
    const ref = { name: first.metadata.name }
    const patch = (body: Record<string, unknown>, subResource?: 'status') =>
      bed().api.patch(directUpdates, ref, { type: 'merge', body }, never, subResource)
    const ignored = await patch({ status: { phase: 'Failed' }, spec: { nodeTimeout: '5m' } })
    expect(ignored.status).toBeUndefined()
    expect(ignored.metadata.generation).toBe(2)
    const reported = await patch({ status: { phase: 'Planning' }, spec: { nodeTimeout: '6m' } }, 'status')
    expect(reported.status?.phase).toBe('Planning')
    expect(reported.spec.nodeTimeout).toBe('5m')
    expect(reported.metadata.generation).toBe(2)
    await expect(patch({ status: { phase: 'Nonsense' } }, 'status')).rejects.toMatchObject({ code: 'Invalid' })
  })

  it('drops a status given on create', async () => {
    const name = `contract-${bed().namespace}`
    const status = { agent: undefined, rollout: undefined }
    const state = await bed().api.create(nodeStates, { metadata: { name }, spec: {}, status }, never)
    await bed().api.delete(nodeStates, { name }, {}, never)
    expect(state.status ?? {}).toEqual({})
  })
}
