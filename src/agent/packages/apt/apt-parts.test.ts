import { describe, expect, it } from 'vitest'
import { FakeHost } from '../../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../../test/fakes/memory-disk.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { FileLook } from '../../../ports/host-files.ts'
import { DiskFiles } from '../../../sim/disk-files.ts'
import { prepareAptFolder } from './apt-folder.ts'
import { isTakenByApt } from './apt-parts.ts'
import { hostPins } from './apt-pins.ts'

/** With folders and links, as a machine has them. */
class FilesWithFolders extends DiskFiles {
  readonly links = new Map<string, string>()

  override async look(path: string): Promise<FileLook> {
    const target = this.links.get(path)
    if (target !== undefined) return { kind: 'link', target }
    return (await super.names(path)).length > 0 ? { kind: 'folder' } : super.look(path)
  }

  override async read(path: string): Promise<string | undefined> {
    const at = this.links.get(path) ?? path
    if ((await super.names(at)).length > 0) throw new SlipwayError('DiskFailed', `${path} is no file`)
    return super.read(at)
  }

  override async names(folder: string): Promise<readonly string[]> {
    const linked = [...this.links.keys()].filter((path) => path.startsWith(`${folder}/`))
    return [...(await super.names(folder)), ...linked.map((path) => path.slice(folder.length + 1))].sort()
  }
}

class HostWithFolders extends FakeHost {
  readonly withFolders = new FilesWithFolders(this.disk)

  override get files(): FilesWithFolders {
    return this.withFolders
  }
}

const staging = '/var/lib/slipway/orders/one/staging/apt'
const etc = '/etc/apt'

async function prepared(): Promise<HostWithFolders> {
  const host = new HostWithFolders(new MemoryDisk(), new ManualClock())
  const put = (path: string) => host.files.write(path, path, { mode: 0o644, owner: 'root', group: 'root' })
  for (const path of ['pin', 'pin.pref', 'pin.pref.dpkg-old', '.hidden.pref', 'pin.pref~', 'old/pin.pref']) {
    await put(`${etc}/preferences.d/${path}`)
  }
  for (const path of ['a.list', 'b.sources', 'b.sources.save', 'old.list/a.list']) {
    await put(`${etc}/sources.list.d/${path}`)
  }
  await put('/opt/pins/ours')
  host.files.links.set(`${etc}/preferences.d/linked`, '/opt/pins/ours')
  host.files.links.set(`${etc}/preferences.d/linked-folder`, '/opt/pins')
  host.answer = ({ argv: [program, , path = ''] }) => {
    const isFile = program !== 'test' || path.endsWith('/linked')
    return { exitCode: isFile ? 0 : 1, stdout: '', stderr: '' }
  }
  await prepareAptFolder(host, staging, { from: 'Host' }, hostPins, new AbortController().signal)
  return host
}

describe('a folder of our own', () => {
  it('has the pins that apt takes, and no others', async () => {
    const { files } = await prepared()
    expect(await files.names(`${staging}/preferences`)).toEqual(['linked', 'pin', 'pin.pref', 'zz-slipway.pref'])
    expect(await files.read(`${staging}/preferences/linked`)).toBe('/opt/pins/ours')
  })

  it('has the sources that apt takes, and no others', async () => {
    const { files } = await prepared()
    expect(await files.names(`${staging}/sources`)).toEqual(['a.list', 'b.sources'])
  })
})

describe('names', () => {
  it.each([
    ['kubernetes.list', 'sources', true],
    ['archive_uri-https_a_b:c-noble.list', 'sources', true],
    ['ubuntu.sources', 'sources', true],
    ['ubuntu.sources.curtin.orig', 'sources', false],
    ['kubernetes.list.distUpgrade', 'sources', false],
    ['kubernetes', 'sources', false],
    ['.kubernetes.list', 'sources', false],
    ['a b.list', 'sources', false],
    ['99ubuntu-pro', 'preferences', true],
    ['nosnap.pref', 'preferences', true],
    ['#nosnap.pref#', 'preferences', false],
    ['nosnap.pref.dpkg-new', 'preferences', false],
    ['nosnap.', 'preferences', false],
    ['README.md', 'preferences', false],
  ] as const)('%s among %s: %s', (name, parts, isTaken) => {
    expect(isTakenByApt(name, parts)).toBe(isTaken)
  })
})
