import { describe, expect, it } from 'vitest'
import { metadata } from '../../../test/samples/cluster-objects.ts'
import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { operationID, operationOf, ownerOfOperation, runOf } from './operation.ts'
import { isOfRun, presentID } from './path-step.ts'

const sha256 = 'a'.repeat(64)

function update(spec: DirectUpdateSpec, path?: VersionPath): DirectUpdate {
  const bare = { metadata: metadata('far', { uid: '01234567-89ab', generation: 1 }), spec }
  return path ? { ...bare, status: { phase: 'InProgress', operationID: operationID(bare), path } } : bare
}

const two = (step: number): VersionPath => ({
  ...{ current: 'v1.34.4', target: 'v1.36.3', steps: ['v1.35.4', 'v1.36.3'], step, workers: [1] },
})
const one: VersionPath = { current: 'v1.35.4', target: 'v1.36.3', steps: ['v1.36.3'], step: 0, workers: [0] }
const far: DirectUpdateSpec = {
  kubernetes: { version: '1.36.*', workers: 'Once', components: ['kubeadm', 'kubelet', 'containerd'] },
  script: { configMap: 'work', sha256 },
  reboot: 'IfRequired',
}
const operation = (spec: DirectUpdateSpec, path?: VersionPath) => operationOf(update(spec, path), undefined, 'ns')

describe('the operation of a step', () => {
  it('has an id of its own, and the run’s besides', () => {
    const run = operationID(update(far))
    const steps = [0, 1].map((step) => operation(far, two(step)))
    expect(steps.map(({ id }) => id)).toEqual([`${run}.1`, `${run}.2`])
    expect(steps.map(runOf)).toEqual([run, run])
    expect(steps.map(({ id }) => ownerOfOperation(id))).toEqual(['far', 'far'])
    expect(steps.every(({ id }) => isOfRun(id, run))).toBe(true)
    expect([`${run}0.1`, 'other', `${run}.1/2`].some((id) => isOfRun(id, run))).toBe(false)
    const { status } = update(far, two(1))
    expect(presentID(status ?? {})).toBe(`${run}.2`)
  })

  it('does on the way what the way needs, and all of it at the end', () => {
    const [first, last] = [0, 1].map((step) => operation(far, two(step)).work)
    expect(first).toEqual({ kubernetes: { version: 'v1.35.4', components: ['kubeadm', 'kubelet'] } })
    expect(last).toMatchObject({
      kubernetes: { version: 'v1.36.3', components: ['kubeadm', 'kubelet', 'containerd'] },
      script: { sha256 },
      reboot: 'IfRequired',
    })
    expect(last?.kubernetes).not.toHaveProperty('workers')
  })

  it('is the run itself on a path of one step, at the version that was found', () => {
    const { id, run, work } = operation(far, one)
    expect(id).toBe(operationID(update(far)))
    expect(run).toBeUndefined()
    expect(work.kubernetes?.version).toBe('v1.36.3')
  })

  it('is as it was written where one version was named, whatever is on record', () => {
    const exact: DirectUpdateSpec = { kubernetes: { version: '1.36.3' } }
    expect(operation(exact, one)).toEqual(operation(exact))
    expect(operation(exact, { current: 'v1.35.4', target: 'v1.36.3' })).toEqual(operation(exact))
  })

  it('forgets the path of an earlier run', () => {
    const edited = update({ ...far, kubernetes: { version: '1.37.*' } })
    const { status } = update(far, two(1))
    expect(operationOf({ ...edited, ...(status && { status }) }, undefined, 'ns').step).toBeUndefined()
  })
})
