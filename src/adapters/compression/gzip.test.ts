import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { gzipCompression } from './gzip.ts'

it('packs as any gunzip unpacks it, and unpacks', async () => {
  const packed = await gzipCompression.pack('grüße\n'.repeat(1000))
  expect(packed.length).toBeLessThan(200)
  expect(gunzipSync(Buffer.from(packed, 'base64')).toString()).toBe('grüße\n'.repeat(1000))
  expect(await gzipCompression.unpack(packed)).toBe('grüße\n'.repeat(1000))
})

it('refuses what would fill the memory', async () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64')
  await expect(gzipCompression.unpack(bomb)).rejects.toThrow()
})
