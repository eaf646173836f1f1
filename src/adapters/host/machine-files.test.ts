import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MachineFiles } from './machine-files.ts'
import { machinePath } from './machine-path.ts'
import { runCommand } from './run-command.ts'
import { relabelling } from './selinux-label.ts'

let outside: string
let root: string
let files: MachineFiles
const never = new AbortController().signal
const mine = { owner: String(process.getuid?.()), group: String(process.getgid?.()) }
const plain = { mode: 0o644, ...mine }

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'slipway-files-'))
  root = join(outside, 'root')
  await mkdir(join(root, 'etc'), { recursive: true })
  await writeFile(join(outside, 'secret'), 'of the container')
  files = new MachineFiles(root, () => Promise.resolve())
})
afterEach(() => rm(outside, { recursive: true, force: true }))

describe('where a path of the machine lies', () => {
  it.each([
    { name: 'as it is', path: '/etc/a', at: '/etc/a' },
    { name: 'above the root', path: '/../../etc/a', at: '/etc/a' },
    { name: 'through a folder and back', path: '/etc/../etc/./a', at: '/etc/a' },
    { name: 'an absolute link', path: '/run-link/x', at: '/run/x', link: ['run-link', '/run'] },
    { name: 'a relative link', path: '/var/run/x', at: '/run/x', link: ['var/run', '../run'] },
    { name: 'a link that points out of the root', path: '/out/x', at: '/secret/x', link: ['out', '../../secret'] },
    { name: 'the last part is left', path: '/etc/l', at: '/etc/l', link: ['etc/l', '/etc/a'] },
    { name: 'the last part, followed', path: '/etc/l', at: '/etc/a', link: ['etc/l', '/etc/a'], follow: true },
  ])('$name', async ({ path, at, link, follow }) => {
    await mkdir(join(root, 'var'))
    if (link) await symlink(link[1] ?? '', join(root, link[0] ?? ''))
    expect(await machinePath(root, path, follow)).toBe(`${root}${at}`)
  })

  it('never leaves the root', async () => {
    await symlink('/', join(root, 'slash'))
    await symlink('../..', join(root, 'etc/up'))
    const part = fc.constantFrom('..', '.', '', 'etc', 'up', 'slash', 'a')
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const at = await machinePath(root, `/${parts.join('/')}`, true)
        expect(at.startsWith(`${root}/`)).toBe(true)
        expect(at.split('/')).not.toContain('..')
      }),
    )
  })

  it('refuses links that go round', async () => {
    await symlink('/loop', join(root, 'loop'))
    await expect(files.read('/loop/a')).rejects.toMatchObject({ code: 'DiskFailed' })
  })
})

describe('MachineFiles', () => {
  it('reads within the machine, not where the kernel would lead', async () => {
    await symlink(join(outside, 'secret'), join(root, 'etc/link'))
    expect(await files.read('/etc/link')).toBeUndefined()
    expect(await files.look('/etc/link')).toEqual({ kind: 'link', target: join(outside, 'secret') })
    expect(await files.read('/../secret')).toBeUndefined()
  })

  it('writes whole files with mode and owner, and makes parents', async () => {
    await files.write('/etc/new/deep/a.conf', 'grüß', { mode: 0o4750, ...mine })
    expect(await readFile(join(root, 'etc/new/deep/a.conf'), 'utf8')).toBe('grüß')
    expect(await readdir(join(root, 'etc/new/deep'))).toEqual(['a.conf'])
    expect((await stat(join(root, 'etc/new'))).mode & 0o777).toBe(0o755)
    expect(await files.look('/etc/new/deep/a.conf')).toMatchObject({ kind: 'file', mode: 0o4750, bytes: 6 })
    await files.write('/etc/new/deep/a.conf', 'b', plain)
    expect(await files.look('/etc/new/deep/a.conf')).toMatchObject({ mode: 0o644, bytes: 1 })
  })

  it('replaces a link by the file, and does not write through it', async () => {
    await symlink('/etc/target', join(root, 'etc/link'))
    await files.write('/etc/link', 'x', plain)
    expect((await lstat(join(root, 'etc/link'))).isFile()).toBe(true)
    expect(await files.look('/etc/target')).toEqual({ kind: 'none' })
  })

  it('takes names as long as names may be, and leaves others alone', async () => {
    const name = 'n'.repeat(255)
    await writeFile(join(root, 'etc/a.slipway-new'), 'somebody’s')
    await files.write(`/etc/${name}`, 'x', plain)
    await files.write('/etc/a', 'y', plain)
    expect(await files.names('/etc')).toEqual(['a', 'a.slipway-new', name])
  })

  it('removes what a crash left, and follows no link that was put in its place', async () => {
    await files.write('/etc/a', 'one', plain)
    const seen: string[] = []
    const spying = new MachineFiles(root, async (temporary) => {
      seen.push(temporary)
      throw new Error('killed here')
    })
    await expect(spying.write('/etc/a', 'two', plain)).rejects.toThrow('killed here')
    expect(await files.names('/etc')).toEqual(['a'])
    const temporary = seen[0] ?? ''
    await symlink(join(outside, 'secret'), join(root, temporary))
    await files.write('/etc/a', 'three', plain)
    expect(await files.names('/etc')).toEqual(['a'])
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('of the container')
    // Hidden, with an ending of its own: no conf.d folder takes it for one of its files.
    expect(temporary).toMatch(/^\/etc\/\.slipway-[0-9a-f]{16}\.new$/)
  })

  it.each([
    { name: 'a folder is no file', act: () => files.read('/etc'), code: 'DiskFailed' },
    { name: 'more than is read', act: () => files.read('/etc/long', 10), code: 'DiskFailed' },
    { name: 'a folder is not written over', act: () => files.write('/etc', 'x', plain), code: 'DiskFailed' },
    { name: 'nor removed', act: () => files.remove('/etc'), code: 'DiskFailed' },
    { name: 'nothing to move', act: () => files.rename('/etc/none', '/etc/x'), code: 'DiskNotFound' },
    {
      name: 'an unknown user',
      act: () => files.write('/etc/x', 'x', { ...plain, owner: 'nobody-knows' }),
      code: 'NotFound',
    },
    { name: 'a pipe is not waited for', act: () => files.read('/etc/pipe'), code: 'DiskFailed' },
  ])('names the failure: $name', async ({ act, code }) => {
    await writeFile(join(root, 'etc/long'), 'x'.repeat(11))
    await runCommand({ argv: ['mkfifo', join(root, 'etc/pipe')] }, { enter: [], env: { PATH: '/usr/bin:/bin' } }, never)
    await expect(act()).rejects.toMatchObject({ name: 'SlipwayError', code })
    expect((await files.names('/etc')).filter((name) => name.startsWith('.slipway'))).toEqual([])
  })

  it('reads what is exactly as long as may be', async () => {
    await writeFile(join(root, 'etc/fits'), 'x'.repeat(10))
    expect(await files.read('/etc/fits', 10)).toHaveLength(10)
  })

  it('says that nothing is there', async () => {
    expect(await files.look('/etc/none')).toEqual({ kind: 'none' })
    expect(await files.sha256('/etc/none')).toBeUndefined()
    expect(await files.names('/none')).toEqual([])
    await files.remove('/etc/none')
  })

  it('hashes, moves and removes', async () => {
    await files.write('/etc/a', 'abc', plain)
    await files.rename('/etc/a', '/etc/b')
    expect(await files.sha256('/etc/b')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    await files.remove('/etc/b')
    expect(await files.names('/etc')).toEqual([])
    expect(await files.freeBytes('/etc/folders/to/come')).toBeGreaterThan(0)
  })

  it('names users and groups as the machine does', async () => {
    await writeFile(join(root, 'etc/passwd'), `root:x:0:0::/:\nhers:x:${mine.owner}:1::/:\n`)
    await writeFile(join(root, 'etc/group'), `theirs:x:${mine.group}:\n`)
    await files.write('/etc/a', '', { mode: 0o600, owner: 'hers', group: 'theirs' })
    expect(await files.look('/etc/a')).toMatchObject({
      owner: /^0$/.test(mine.owner) ? 'root' : 'hers',
      group: 'theirs',
    })
  })
})

describe('watching', () => {
  /** On a machine that has other things to do a change is told late; that nothing is told need not be waited for as long. */
  const PATIENCE = 5000

  async function changes(paths: readonly string[], act: () => Promise<unknown>, patience = PATIENCE): Promise<number> {
    const stop = new AbortController()
    let count = 0
    const watching = files.watch(paths, () => void count++, stop.signal)
    await delay(50)
    await act()
    for (let waited = 0; count === 0 && waited < patience; waited += 20) await delay(20)
    stop.abort()
    await watching
    return count
  }

  it.each([
    { name: 'comes', act: () => writeFile(join(root, 'etc/new'), ''), sees: true },
    { name: 'changes', act: () => writeFile(join(root, 'etc/a'), 'other'), sees: true },
    { name: 'is replaced', act: () => files.write('/etc/a', 'x', plain), sees: true },
    { name: 'goes', act: () => rm(join(root, 'etc/a')), sees: true },
    { name: 'gets another mode', act: () => chmod(join(root, 'etc/a'), 0o600), sees: true },
    { name: 'of no interest', act: () => writeFile(join(root, 'etc/b'), ''), sees: false },
  ])('a file that $name', async ({ act, sees }) => {
    await writeFile(join(root, 'etc/a'), 'x')
    expect((await changes(['/etc/a', '/etc/new'], act, sees ? PATIENCE : 400)) > 0).toBe(sees)
  })

  it('waits for folders that are not there yet', async () => {
    const found = await changes(['/run/some/where/file'], async () => {
      await mkdir(join(root, 'run/some/where'), { recursive: true })
      await delay(100)
    })
    expect(found).toBeGreaterThan(0)
    const stop = new AbortController()
    const seen: string[] = []
    await rm(join(root, 'run'), { recursive: true })
    const watching = files.watch(['/run/deep/file'], () => seen.push('change'), stop.signal)
    await delay(50)
    await mkdir(join(root, 'run/deep'), { recursive: true })
    await delay(150)
    seen.length = 0
    await writeFile(join(root, 'run/deep/file'), '')
    for (let waited = 0; seen.length === 0 && waited < PATIENCE; waited += 20) await delay(20)
    expect(seen).not.toEqual([])
    stop.abort()
    await watching
  })
})

describe('SELinux labels', () => {
  const label = 'system_u:object_r:etc_t:s0'

  async function commands(replaces: boolean, answers: Readonly<Record<string, string | undefined>> = {}) {
    const ran: string[][] = []
    const relabel = relabelling(root, async ({ argv }) => {
      ran.push([...argv])
      const refusal = argv[0] === 'chcon' ? answers.chcon : undefined
      return { exitCode: refusal === undefined ? 0 : 1, stdout: answers[argv[0] ?? ''] ?? '', stderr: refusal ?? '' }
    })
    await relabel('/etc/.new', '/etc/a', replaces)
    return ran
  }

  it('are left alone where SELinux is off', async () => {
    expect(await commands(true)).toEqual([])
  })

  it('are kept, or as the policy wants them for that name', async () => {
    await mkdir(join(root, 'sys/fs/selinux'), { recursive: true })
    await writeFile(join(root, 'sys/fs/selinux/enforce'), '1')
    expect(await commands(true)).toEqual([['chcon', '--reference=/etc/a', '--', '/etc/.new']])
    expect(await commands(false, { matchpathcon: `${label}\n` })).toEqual([
      ['matchpathcon', '-n', '/etc/a'],
      ['chcon', label, '--', '/etc/.new'],
    ])
    expect(await commands(false, { matchpathcon: '<<none>>\n' })).toHaveLength(1)
    await commands(true, { chcon: "chcon: failed to change context of '/etc/.new': Operation not supported" })
    await expect(commands(true, { chcon: 'Permission denied' })).rejects.toMatchObject({ code: 'DiskFailed' })
  })
})
