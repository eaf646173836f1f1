import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metadata } from '../../../test/samples/cluster-objects.ts'
import { viewOf } from '../../../test/samples/node-views.ts'
import type { DirectUpdate, DirectUpdateSpec, DirectUpdateStatus } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { drainOf } from '../drain/drain-policy.ts'
import { makeOrder } from '../node/order.ts'
import { operationID, operationOf, ownerOfOperation } from './operation.ts'
import { contentName } from './work-of.ts'

const spec: DirectUpdateSpec = { kubernetes: { version: 'v1.36.3' } }
const update = (
  part: { name?: string; uid?: string; generation?: number; spec?: DirectUpdateSpec; status?: DirectUpdateStatus } = {},
): DirectUpdate => ({
  metadata: metadata(part.name ?? 'to-1-36', { uid: part.uid ?? '01234567-89ab', generation: part.generation ?? 1 }),
  spec: part.spec ?? spec,
  ...(part.status && { status: part.status }),
})
/** The status the operator writes for the operation this update is in. */
const inPhase = (phase: NonNullable<DirectUpdateStatus['phase']>, of: DirectUpdate = update()): DirectUpdateStatus => ({
  phase,
  operationID: operationID(of),
  observedGeneration: of.metadata.generation ?? 0,
})

const first = operationID(update())
const selector = (pool: string) => ({ ...spec, nodeSelector: { matchLabels: { pool } } })
const safeEdit: DirectUpdateSpec = {
  ...spec,
  strategy: { maxUnavailable: 5 },
  nodeTimeout: '1h',
  drain: { timeout: '5m' },
}

describe('the id of an operation', () => {
  it('names the update, its object, its generation and its work', () => {
    expect(first).toMatch(/^to-1-36\/01234567-1-[0-9a-f]{13}$/)
    expect(ownerOfOperation(first)).toBe('to-1-36')
  })

  it.each<[string, DirectUpdate]>([
    ['asked twice', update()],
    ['a selector that is there but undefined', update({ spec: { ...spec, nodeSelector: undefined } })],
    ['while it runs', update({ status: inPhase('InProgress') })],
    ['a safe edit while it runs', update({ generation: 2, spec: safeEdit, status: inPhase('InProgress') })],
    [
      'a safe edit while it needs a person',
      update({ generation: 2, spec: safeEdit, status: inPhase('RequiresAttention') }),
    ],
    [
      'several safe edits',
      update({ generation: 9, spec: safeEdit, status: { ...inPhase('InProgress'), observedGeneration: 8 } }),
    ],
    ['when it succeeded', update({ status: inPhase('Succeeded') })],
    ['when it failed', update({ status: inPhase('Failed') })],
    [
      'when it succeeded after a safe edit',
      update({ generation: 2, spec: safeEdit, status: { ...inPhase('Succeeded'), observedGeneration: 2 } }),
    ],
    ['before it has a phase', update({ generation: 2, status: { operationID: first, observedGeneration: 1 } })],
  ])('stays: %s', (_name, same) => {
    expect(operationID(same)).toBe(first)
  })

  it.each<[string, DirectUpdate]>([
    ['another update', update({ name: 'other' })],
    ['created again under its name', update({ uid: '76543210-89ab' })],
    ['other version', update({ spec: { kubernetes: { version: 'v1.36.4' } } })],
    ['a script as well', update({ spec: { ...spec, script: { configMap: 'c', sha256: 'a' } } })],
    ['other nodes', update({ spec: selector('a') })],
    ['other work while it runs', update({ generation: 2, spec: selector('a'), status: inPhase('InProgress') })],
    ['any edit of a finished one', update({ generation: 2, spec: safeEdit, status: inPhase('Succeeded') })],
    ['any edit of a failed one', update({ generation: 2, spec: safeEdit, status: inPhase('Failed') })],
  ])('is new: %s', (_name, other) => {
    expect(operationID(other)).not.toBe(first)
    expect(ownerOfOperation(operationID(other))).toBe(other.metadata.name)
  })

  it('going back to an earlier work after its end is a new operation', () => {
    const back = update({
      generation: 3,
      status: { ...inPhase('Succeeded', update({ generation: 2, spec: selector('a') })) },
    })
    expect(operationID(back)).toMatch(/^to-1-36\/01234567-3-/)
    expect(operationID(back)).not.toBe(first)
  })

  it('a restarted operator arrives at the same id, whatever it had written', () => {
    const phases = ['Pending', 'Planning', 'InProgress', 'RequiresAttention'] as const
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(...phases),
        fc.integer({ min: 1, max: 99 }),
        (at, phase, later) => {
          const started = update({ generation: at })
          const edited = update({ generation: at + later, spec: safeEdit, status: inPhase(phase, started) })
          expect(operationID(edited)).toBe(operationID(started))
        },
      ),
    )
  })

  it('each edit of a finished one is an operation of its own', () => {
    const ids = [first]
    for (const generation of [2, 3, 4]) {
      const status = { phase: 'Succeeded', operationID: ids.at(-1), observedGeneration: generation - 1 } as const
      ids.push(operationID(update({ generation, status })))
    }
    expect(new Set(ids).size).toBe(4)
  })
})

describe('an operation', () => {
  const policy = (drain: MaintenancePolicy['spec']['drain']): MaintenancePolicy => ({
    metadata: metadata('default'),
    spec: { drain },
  })
  const drain = drainOf()

  it('has defaults for everything', () => {
    expect(operationOf(update(), undefined, 'slipway-system')).toEqual({
      id: first,
      update: 'to-1-36',
      work: { kubernetes: { version: 'v1.36.3' } },
      disruption: 'Drain',
      rollback: 'Image',
      nodeTimeout: '30m',
      drain,
      gates: [],
      hooks: [],
    })
  })

  it.each([
    ['All', 'All'],
    ['Never', 'Never'],
    ['Image', 'Image'],
    [undefined, 'Image'],
  ] as const)('with rollback %s makes orders that undo %s', (rollback, undone) => {
    const operation = operationOf(update({ spec: { ...spec, rollback } }), undefined, 'slipway-system')
    expect(makeOrder(viewOf({}), operation, 1).rollback).toBe(undone)
  })

  it.each<[string, DirectUpdateSpec['drain'], MaintenancePolicy['spec']['drain'], object]>([
    [
      'the policy says',
      undefined,
      { timeout: '5m', emptyDir: 'Block' },
      { ...drain, timeoutMs: 300_000, emptyDir: 'Block' },
    ],
    [
      'the update says',
      { timeout: '1m', unmanagedPods: 'Delete' },
      undefined,
      { ...drain, timeoutMs: 60_000, unmanagedPods: 'Delete' },
    ],
    [
      'the update wins, field by field',
      { timeout: '1m' },
      { timeout: '5m', podGracePeriod: '1m30s' },
      { ...drain, timeoutMs: 60_000, podGraceSeconds: 90 },
    ],
  ])('drains as %s', (_name, own, general, expected) => {
    const { drain: found } = operationOf(update({ spec: { ...spec, drain: own } }), general && policy(general), 'ns')
    expect(found).toStrictEqual(expected)
  })

  it('orders a script by its content, not by the name a person gave it', () => {
    const sha256 = `${'0123456789'.repeat(6)}abcd`
    const script = { configMap: 'rotate', sha256 }
    const { work, nodeTimeout } = operationOf(update({ spec: { script, nodeTimeout: '45m' } }), undefined, 'ns')
    expect(work).toEqual({ script: { configMap: contentName(sha256), namespace: 'ns', sha256 } })
    expect(contentName(sha256)).toBe('slipway-content-0123456789012345678901234567890123456789')
    expect(nodeTimeout).toBe('45m')
  })
})
