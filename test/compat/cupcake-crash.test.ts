// The life of a resource of CUPCAKE, with the operator killed at each of its writes.

import { expect, it } from 'vitest'
import {
  type CupcakeDirectUpdate,
  cupcakeDirectUpdates,
  cupcakeNodeMarks,
  kopfFinalizer,
} from '../../src/api/cupcake.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { play, type Story, type StoryOptions } from '../scenario/story.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { installForeign, manifest } from './manifest.ts'

const options: StoryOptions = { nodes: oneAnd(1), operators: 1 }

async function wholeLife(story: Story): Promise<void> {
  const { cluster, person } = story
  const { server } = cluster.sim
  const ever = new Set<string>()
  server.onCommit(() => {
    for (const { metadata } of server.peekAll(directUpdates)) ever.add(metadata.uid)
  })
  const theirs = () => server.peek(cupcakeDirectUpdates, { name: 'basic' }) as CupcakeDirectUpdate | undefined
  await installForeign(story)
  const object = manifest(cupcakeDirectUpdates, 'cupcake/basic.yaml')
  await person.creates(cupcakeDirectUpdates, { ...object, metadata: { name: 'basic', finalizers: [kopfFinalizer] } })
  await cluster.until('it is done', () => theirs()?.status?.phase === 'Succeeded')
  await cluster.until('its marks say so', () =>
    cluster.names.every((name) => cluster.node(name)?.metadata.annotations?.[cupcakeNodeMarks.status] === 'completed'),
  )
  await person.deletes(cupcakeDirectUpdates, { name: 'basic' })
  await cluster.until('it is gone', () => theirs() === undefined && server.peekAll(directUpdates).length === 0)
  expect(ever.size).toBe(1)
  expect(cluster.taken).toEqual([])
  const restarts = cluster.names.map(
    (name) => cluster.machine(name).host.executions.filter(({ step }) => step === 'restart-kubelet').length,
  )
  expect(restarts).toEqual([1, 1])
}

it('is the same whenever the operator dies: one update, each node once, nothing left', async () => {
  let writes = 0
  await play(options, async (story) => {
    await wholeLife(story)
    writes = story.faults.count('operator', 'write')
  })
  expect(writes).toBeGreaterThan(20)
  for (let nth = 1; nth <= writes; nth++) {
    await play({ ...options, crash: { victim: 'operator', before: 'write', nth } }, wholeLife)
    await play({ ...options, crash: { victim: 'operator', after: 'write', nth } }, wholeLife)
  }
})
