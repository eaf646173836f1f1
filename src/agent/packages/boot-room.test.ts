import { mkdir, mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { bootRoomMissing } from './boot-room.ts'

let root: string
const host = () => new LinuxHost({ disk: new FileDisk(), log: silentLog, root })

/** A file of that size which takes no room itself. */
async function put(name: string, bytes: number): Promise<void> {
  await writeFile(join(root, 'boot', name), '')
  await truncate(join(root, 'boot', name), bytes)
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'slipway-boot-'))
  await mkdir(join(root, 'boot'))
})
afterEach(() => rm(root, { recursive: true }))

describe('room for a kernel', () => {
  const freeBytes = async () => {
    const { bavail, bsize } = await statfs(root)
    return bavail * bsize
  }
  const spare = 1024 ** 3

  it.each([
    ['initrd.img-6.1.0-30-amd64', ['plain', 'linux-image-6.1.0-31-amd64']],
    ['initramfs-5.14.0-503.el9.x86_64.img', ['kernel-core']],
    ['vmlinuz-6.8.0-50-generic', ['linux-image-unsigned-6.8.0-51-generic']],
  ])('is missing where another one like %s does not fit', async (name, packages) => {
    await put(name, (await freeBytes()) + spare)
    const reason = await bootRoomMissing(host(), packages)
    expect(reason?.code).toBe('DiskTooFull')
    expect(reason?.message).toMatch(/\/boot has \d+ MB free, and a kernel like the one there takes \d+ MB/)
  })

  it.each([
    ['no kernel is among the packages', 'initrd.img-6.1.0-30-amd64', ['plain', 'kernel-headers', 'linux-libc-dev']],
    ['only the one for rescue is large', 'initramfs-0-rescue-1c3f.img', ['kernel-core']],
    ['it is no kernel that is large', 'grub.img', ['kernel-core']],
  ])('is not asked for where %s', async (_, name, packages) => {
    await put(name, (await freeBytes()) + spare)
    expect(await bootRoomMissing(host(), packages)).toBeUndefined()
  })

  it('is there where one more fits, or none lies there', async () => {
    expect(await bootRoomMissing(host(), ['linux-image-amd64'])).toBeUndefined()
    await put('vmlinuz-6.1.0-30-amd64', 8_000_000)
    await put('initrd.img-6.1.0-30-amd64', 60_000_000)
    expect(await bootRoomMissing(host(), ['linux-image-amd64'])).toBeUndefined()
  })
})
