import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { ForeignWatch } from './foreign-watch.ts'

const type: ResourceType<KubeObject> = {
  apiVersion: 'other.example/v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: false,
}
const definition = (served = true) => ({
  apiVersion: resourceDefinitionType.apiVersion,
  kind: resourceDefinitionType.kind,
  metadata: { name: 'things.other.example' },
  spec: { versions: [{ name: 'v1', served }] },
})
const thing = (name: string) => ({ apiVersion: type.apiVersion, kind: type.kind, metadata: { name } })

function setUp() {
  const api = new FakeKubeApi()
  const clock = new ManualClock()
  const stop = new AbortController()
  const changed: string[] = []
  const ports = { api, clock, random: fixedRandom(), log: new RecordingLog() }
  const watch = new ForeignWatch({ ports, type, onChange: (key) => changed.push(key) })
  const running = watch.run(stop.signal)
  const watchesOf = (plural: string) => api.watches.filter((open) => open.type.plural === plural).length
  const end = async () => {
    stop.abort()
    await running
  }
  return { api, clock, watch, changed, watchesOf, signal: stop.signal, stop: end }
}

it('watches objects only while their definition is there', async () => {
  const { api, clock, watch, changed, watchesOf, signal, stop } = setUp()
  await clock.advance(1_000)
  expect(watchesOf('customresourcedefinitions')).toBe(1)
  expect(watchesOf('things')).toBe(0)
  expect(watch.isSynced).toBe(false)

  await api.create(resourceDefinitionType, definition(), signal)
  await api.create(type, thing('a'), signal)
  await clock.advance(1_000)
  expect(watch.isSynced).toBe(true)
  expect([...watch.store.values()].map(({ metadata }) => metadata.name)).toEqual(['a'])
  expect(changed).toEqual(['a'])

  await api.delete(resourceDefinitionType, { name: 'things.other.example' }, {}, signal)
  await clock.advance(1_000)
  expect(watchesOf('things')).toBe(0)
  expect(watch.isSynced).toBe(false)
  expect(watch.store.size).toBe(0)
  expect(changed).toEqual(['a', 'a'])

  await api.create(resourceDefinitionType, definition(), signal)
  await clock.advance(1_000)
  expect(watch.store.size).toBe(1)
  await stop()
})

it('leaves a version alone that is not served', async () => {
  const { api, clock, watchesOf, signal, stop } = setUp()
  await api.create(resourceDefinitionType, definition(false), signal)
  await clock.advance(1_000)
  expect(watchesOf('things')).toBe(0)
  await stop()
  expect(watchesOf('customresourcedefinitions')).toBe(0)
})
