import { describe, expect, it } from 'vitest'
import { expressionFault, judgeExpression } from './expression.ts'

const object = {
  metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'x' }, annotations: {} },
  spec: { replicas: 3, ratio: 0.5, none: null },
  status: {
    readyReplicas: 3,
    ceph: { health: 'HEALTH_WARN', lastChecked: '2026-01-01T00:00:00Z' },
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
  },
}
const objects = [
  { status: { state: 'attached', robustness: 'healthy' } },
  { status: { state: 'detached', robustness: 'unknown' } },
]
const scope = { object, objects, node: { metadata: { name: 'w1' } }, wave: 1 }

describe('an expression', () => {
  it.each([
    'object.spec.replicas == object.status.readyReplicas',
    'object.spec.replicas == 3',
    'object.spec.replicas >= 2.5',
    'object.spec.replicas + 1 == 4',
    'object.spec.ratio * 2.0 == 1.0',
    'object.spec.none == null',
    "string(object.spec.replicas) == '3'",
    "object.status.ceph.health in ['HEALTH_OK', 'HEALTH_WARN']",
    "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
    "object.status.conditions.exists_one(c, c.type == 'Ready')",
    "object.status.conditions.filter(c, c.status == 'True').size() == 1",
    "object.status.conditions.map(c, c.type) == ['Ready', 'Synced']",
    "objects.all(v, v.status.state != 'attached' || v.status.robustness == 'healthy')",
    'size(objects) == 2',
    'has(object.status.ceph) && !has(object.status.nothing)',
    "object.metadata.labels['app.kubernetes.io/name'] == 'x'",
    "!('other' in object.metadata.labels)",
    "object.status.?nothing.orValue('none') == 'none'",
    'object.?status.?nothing.?deeper.orValue(1) == 1',
    "timestamp(object.status.ceph.lastChecked) < timestamp('2026-02-01T00:00:00Z')",
    "timestamp('2026-02-01T00:00:00Z') - timestamp(object.status.ceph.lastChecked) > duration('24h')",
    "node.metadata.name.startsWith('w') && node.metadata.name.matches('^w[0-9]+$')",
    'wave == 1',
    // What is missing does not matter where the rest decides.
    "true || object.status.nothing == 'x'",
    "object.status.nothing == 'x' || true",
  ])('holds: %s', (text) => {
    expect(expressionFault(text)).toBeUndefined()
    expect(judgeExpression(text, scope)).toEqual({ state: 'holds' })
  })

  it.each(["object.spec.replicas == '3'", 'has(object.status.nothing)', 'wave > 1', 'size(objects) == 0'])(
    'is false: %s',
    (text) => {
      expect(judgeExpression(text, scope)).toMatchObject({ state: 'fails', message: `is false: ${text}` })
    },
  )

  it.each([
    ['object.status.nothing.x == 1', 'No such key: nothing'],
    ["object.metadata.labels['other'] == 'x'", 'No such key: other'],
    ["object.status.conditions[5].type == 'x'", ''],
    ['1 / 0 == 1', ''],
    ["object.spec.replicas > 'a'", ''],
    ['object.spec.replicas', 'neither true nor false'],
  ])('is not known, and no exception: %s', (text, words) => {
    const look = judgeExpression(text, scope)
    expect(look.state).toBe('unknown')
    expect(look.state !== 'holds' && look.message).toContain(words)
  })

  it('is not known while no object is there', () => {
    expect(judgeExpression('object.status.ok', { ...scope, object: null })).toMatchObject({ state: 'unknown' })
  })

  it.each([
    ['object.status.', 'Expected IDENTIFIER'],
    ['object.status ==', ''],
    ['foo == 1', 'Unknown variable: foo'],
    ['node.metadata.name.nosuch()', ''],
    ["1 + 'a' == 2", ''],
    ['size(1) == 1', ''],
    ["'text'", 'it gives a string, not true or false'],
    ['objects.all(v)', ''],
    ['true &&& false', ''],
    ['nosuch(object)', ''],
  ])('is broken before anything is known: %s', (text, words) => {
    expect(expressionFault(text)).toContain(words)
    expect(judgeExpression(text, scope)).toMatchObject({ state: 'broken' })
  })
})
