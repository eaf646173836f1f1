import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { type BedSlot, leftoversOf } from '../bed/bed-slot.ts'
import { openCommitDesk, openDesk } from '../bed/osimage/commit-images.ts'
import { openOnSlot } from '../bed/slot-life.ts'

test('desks live side by side, each with a registry of its own', async () => {
  await using one = await openCommitDesk()
  await using other = await openCommitDesk()
  expect(one.registry).not.toBe(other.registry)
  for (const { registry } of [one, other]) expect((await fetch(`http://${registry}/v2/`)).ok).toBe(true)
})

test('a desk that does not open leaves nothing', async () => {
  const inTheWay = createServer((socket) => socket.destroy())
  let slot: BedSlot | undefined
  const opening = openOnSlot(async (life) => {
    slot = life.slot
    inTheWay.listen(5000, `127.0.77.${life.slot.number}`)
    await once(inTheWay, 'listening')
    return openDesk(life)
  })
  try {
    await expect(opening).rejects.toThrow('address already in use')
    expect(slot && leftoversOf(slot)).toEqual([])
  } finally {
    inTheWay.close()
  }
})
