// The functions as shells run them, with a table of mounts of our own and a `sync` that only notes how it is called.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { syncWritten } from './sync-written.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sync-written-'))
  await writeFile(join(folder, 'sync'), `#!/bin/sh\necho "$*" >>"${folder}/calls"\n`, { mode: 0o755 })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Mount = readonly [point: string, type: string]

/** What is synced by `call`, whose $1 is a table of these mounts. */
async function synced(call: string, mounts: readonly Mount[], shell = '/bin/sh'): Promise<readonly string[]> {
  const lines = mounts.map(
    ([point, type], index) =>
      `${20 + index} 1 0:${index} /a - b ${point} rw shared:${index} - ${type} server:/x rw,a=b - c\n`,
  )
  await writeFile(join(folder, 'mounts'), lines.join('').replaceAll('/a - b ', '/a\\040-\\040b '))
  await writeFile(join(folder, 'calls'), '')
  const argv = ['-c', `${syncWritten}\n${call}`, 'test', join(folder, 'mounts')]
  const { stdout } = await promisify(execFile)(shell, argv, { env: { PATH: `${folder}:/usr/bin:/bin` } })
  expect(stdout).toBe('')
  return (await readFile(join(folder, 'calls'), 'utf8')).split('\n').slice(0, -1)
}

const all = ['/', '/boot', '/boot/efi', '/etc', '/opt', '/usr', '/var', '/var/lib']
  .filter((place) => existsSync(place))
  .map((place) => `-f ${place}`)
const without = (...places: readonly string[]) => all.filter((words) => !places.includes(words.slice('-f '.length)))

describe('what packages write to is synced', () => {
  it.each(['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell)))(
    'but not what a server holds, by %s',
    async (shell) => {
      const mounts: readonly Mount[] = [
        ['/', 'ext4'],
        ['/usr', 'nfs4'],
        ['/var', 'xfs'],
        ['/varnished', 'nfs'],
      ]
      expect(await synced('sync_written "$1"', mounts, shell)).toEqual(without('/usr'))
    },
  )

  it.each(['nfs', 'nfs4', 'cifs', 'smb3', 'ceph', '9p', 'lustre', 'afs', 'fuse', 'fuse.glusterfs', 'fuse.sshfs'])(
    'but not on %s',
    async (type) => {
      expect(
        await synced('sync_written "$1"', [
          ['/', 'ext4'],
          ['/var', type],
        ]),
      ).toEqual(without('/var', '/var/lib'))
    },
  )

  it.each(['ext4', 'xfs', 'btrfs', 'overlay', 'tmpfs', 'fuseblk'])('on %s', async (type) => {
    expect(
      await synced('sync_written "$1"', [
        ['/', 'ext4'],
        ['/var', type],
      ]),
    ).toEqual(all)
  })

  it.each<{ readonly name: string; readonly mounts: readonly Mount[]; readonly left: readonly string[] }>([
    {
      name: 'the longest mount point, wherever it stands',
      mounts: [
        ['/var/lib', 'nfs'],
        ['/var', 'xfs'],
      ],
      left: ['/var/lib'],
    },
    {
      name: 'a disk below a server',
      mounts: [
        ['/var/lib', 'xfs'],
        ['/var', 'nfs'],
      ],
      left: ['/var'],
    },
    { name: 'an automount that has mounted nothing', mounts: [['/usr', 'autofs']], left: ['/usr'] },
    {
      name: 'an automount that has mounted a disk',
      mounts: [
        ['/usr', 'autofs'],
        ['/usr', 'vfat'],
      ],
      left: [],
    },
    {
      name: 'an automount that has mounted a server',
      mounts: [
        ['/usr', 'autofs'],
        ['/usr', 'nfs4'],
      ],
      left: ['/usr'],
    },
    { name: 'a root from a server', mounts: [['/', 'nfs4']], left: [] },
    { name: 'a table that tells nothing', mounts: [], left: [] },
  ])('$name', async ({ mounts, left }) => {
    expect(await synced('sync_written "$1"', [['/', 'ext4'], ...mounts])).toEqual(without(...left))
  })

  it('by the table of this process where no other is named', async () => {
    expect(await synced('sync_written', [])).toContain('-f /')
  })
})

describe('a place that is a link', () => {
  it.each(['far', '/far'])('counts as what it leads to: %s', async (target) => {
    const far = join(folder, 'far')
    const place = join(folder, 'place')
    await mkdir(far)
    await symlink(target === '/far' ? far : target, place)
    const call = `sync_place ${place} "$1"`
    expect(
      await synced(call, [
        ['/', 'ext4'],
        [far, 'nfs4'],
      ]),
    ).toEqual([])
    expect(
      await synced(call, [
        ['/', 'ext4'],
        [far, 'xfs'],
      ]),
    ).toEqual([`-f ${far}`])
  })
})
