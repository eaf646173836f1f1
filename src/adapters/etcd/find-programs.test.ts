import { describe, expect, it } from 'vitest'
import { FakeHost } from '../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../test/fakes/memory-disk.ts'
import type { CommandResult } from '../../ports/host.ts'
import { findPrograms, type ProgramWish } from './find-programs.ts'

const signal = new AbortController().signal
const wish: ProgramWish = { needs: ['etcdutl', 'etcd'], snapshot: '3.6.5', folder: '/state/programs' }
const image = 'registry.example/etcd:3.6.8-0'
const ok: CommandResult = { exitCode: 0, stdout: '', stderr: '' }
const missing: CommandResult = { exitCode: 127, stdout: '', stderr: '' }

interface Traits {
  /** Versions on the PATH. */
  readonly path?: string
  readonly inContainer?: string
  readonly inImage?: { readonly by: 'ctr' | 'podman'; readonly version: string }
}

/** A machine that has etcd's programs where it is said; remembers what was run. */
async function machine({ path, inContainer, inImage }: Traits) {
  const host = new FakeHost(new MemoryDisk(), new ManualClock())
  const ran: string[] = []
  const copied = new Map<string, string>()
  const put = (file: string, text: string) =>
    host.files.write(file, text, { mode: 0o644, owner: 'root', group: 'root' })
  await put('/proc/7/comm', 'containerd\n')
  if (inContainer !== undefined) await put('/proc/42/comm', 'etcd\n')
  await put('/etc/kubernetes/manifests/etcd.yaml', JSON.stringify({ spec: { containers: [{ image }] } }))
  host.answer = ({ argv }) => {
    const line = argv.join(' ')
    ran.push(line)
    const [program = '', ...args] = argv
    const version = copied.get(program) ?? (program.startsWith('/') ? undefined : path)
    if (/etcdutl$/.test(program)) return version ? { ...ok, stdout: `etcdutl version: ${version}\n` } : missing
    if (/etcd$/.test(program)) return version ? { ...ok, stdout: `etcd Version: ${version}\n` } : missing
    if (program === 'mkdir') return ok
    if (program === 'ctr') return inImage?.by === 'ctr' ? ok : missing
    if (line === `podman image mount ${image}`)
      return inImage?.by === 'podman' ? { ...ok, stdout: '/merged\n' } : missing
    if (program === 'podman') return ok
    if (program !== 'cp') return missing
    const [from = '', to = ''] = args.slice(-2)
    const found = from.startsWith('/proc/42/root/usr/local/bin/') ? inContainer : inImage?.version
    if (found === undefined) return missing
    copied.set(to, found)
    return ok
  }
  return { host, ran }
}

describe('etcd’s programs are found', () => {
  it('on the PATH, and nothing else is looked at', async () => {
    const { host, ran } = await machine({ path: '3.6.8', inContainer: '3.6.8' })
    const { etcdutl, etcd } = await findPrograms(host, wish, signal)
    expect([etcdutl?.path, etcd?.path]).toEqual(['etcdutl', 'etcd'])
    expect(ran.filter((line) => line.startsWith('cp'))).toEqual([])
  })

  it('in the running container, copied out of it', async () => {
    const { host } = await machine({ inContainer: '3.6.5' })
    expect(await findPrograms(host, wish, signal)).toMatchObject({
      etcdutl: { path: '/state/programs/etcdutl', version: '3.6.5', from: 'a running container' },
      etcd: { path: '/state/programs/etcd' },
    })
  })

  it('in the container where those on the PATH cannot open the snapshot', async () => {
    const { host } = await machine({ path: '3.4.30', inContainer: '3.6.8' })
    expect((await findPrograms(host, wish, signal)).etcdutl?.from).toBe('a running container')
  })

  it.each(['ctr', 'podman'] as const)('in the image of the manifest, by %s, which is unmounted again', async (by) => {
    const { host, ran } = await machine({ inImage: { by, version: '3.6.8' } })
    expect((await findPrograms(host, wish, signal)).etcd?.from).toBe(`image ${image}`)
    expect(ran.some((line) => line.startsWith(by) && line.includes('unmount'))).toBe(true)
  })

  it('nowhere: says what was looked for, and how to name them', async () => {
    const { host } = await machine({ path: '3.5.1' })
    await expect(findPrograms(host, wish, signal)).rejects.toMatchObject({
      code: 'ToolMissing',
      message: expect.stringContaining('etcdutl 3.5.1 (the PATH)'),
      nextStep: expect.stringContaining('--etcdutl'),
    })
  })
})
