// Everything a bed has on this machine bears its prefix or lies in its folder: so it can be found and removed without its help.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

const cgroupRoot = '/sys/fs/cgroup'
const anyMachine = /^slw\d+n\d+$/
const deepestCgroup = 4
const endWithinMs = 20_000

/** Ends what runs in its machines and removes all that bears its name; files are for `removeTree`, after this. */
export function clearNames(prefix: string): void {
  untilNone(() => processes(prefix), kill)
  untilNone(
    () => interfaces(prefix),
    (name) => spawnSync('ip', ['link', 'del', name]),
  )
  untilNone(
    () => networkNamespaces(prefix),
    (name) => spawnSync('ip', ['netns', 'del', name]),
  )
  for (const folder of machineCgroups(prefix)) removeCgroup(folder)
}

export function leftovers(prefix: string, folder: string): string[] {
  return [
    ...processes(prefix).map((pid) => `process ${pid} (${commandOf(pid)})`),
    ...mountsUnder(folder).map((path) => `mount ${path}`),
    ...interfaces(prefix).map((name) => `interface ${name}`),
    ...networkNamespaces(prefix).map((name) => `network namespace ${name}`),
    ...machineCgroups(prefix).map((path) => `cgroup ${path}`),
    ...(existsSync(folder) ? [`folder ${folder}`] : []),
  ]
}

/** Removes a folder with all that is mounted in it. */
export function removeTree(folder: string): void {
  untilNone(
    () => mountsUnder(folder),
    (mount) => spawnSync('umount', [mount]),
  )
  // Never across a mount: what is mounted there is not ours to delete.
  if (mountsUnder(folder).length === 0) removeFiles(folder)
}

/** Again and again: the kernel needs a moment, and an interrupt from the keyboard ends our helpers in the middle too. */
function untilNone<T>(look: () => readonly T[], act: (one: T) => void): void {
  const endMs = performance.now() + endWithinMs
  for (let found = look(); found.length > 0 && performance.now() < endMs; found = look()) {
    found.forEach(act)
    if (look().length > 0) pause(20)
  }
}

/** Removes a cgroup with all below it, as far as nothing runs there. */
export function removeCgroup(folder: string): void {
  for (const inner of childFolders(folder)) removeCgroup(join(folder, inner))
  for (let attempt = 0; attempt < 20; attempt += 1) {
    try {
      rmdirSync(folder)
      return
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'ENOENT') return
      if (code !== 'EBUSY') throw error
      // The kernel lets go of a process's cgroup a moment after its end.
      pause(20)
    }
  }
}

/** ostree makes its deployments immutable; tried again, since an interrupt may end what frees them. */
function removeFiles(folder: string, attempts = 3): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    if (attempts === 1 || !(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
    spawnSync('chattr', ['-R', '-f', '-i', folder])
    removeFiles(folder, attempts - 1)
  }
}

function processes(prefix: string): number[] {
  const inside = (folder: string): string[] => [
    ...readLines(join(folder, 'cgroup.procs')),
    ...childFolders(folder).flatMap((inner) => inside(join(folder, inner))),
  ]
  return [...new Set(machineCgroups(prefix).flatMap(inside))].map(Number).filter((pid) => pid > 0)
}

/** In every hierarchy, at whatever depth the bed's own process stood there. */
function machineCgroups(prefix: string): string[] {
  const search = (folder: string, depth: number): string[] =>
    childFolders(folder).flatMap((name) => {
      const path = join(folder, name)
      if (isOf(prefix, name)) return [path]
      return depth === 0 || anyMachine.test(name) ? [] : search(path, depth - 1)
    })
  return search(cgroupRoot, deepestCgroup)
}

function mountsUnder(folder: string): string[] {
  return readLines('/proc/self/mounts')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
    .reverse()
}

function interfaces(prefix: string): string[] {
  return childNames('/sys/class/net').filter((name) => isOf(prefix, name))
}

function networkNamespaces(prefix: string): string[] {
  return childNames('/run/netns').filter((name) => isOf(prefix, name))
}

/** `slw1` and `slw1n2` are of `slw1`, `slw11` is not. */
function isOf(prefix: string, name: string): boolean {
  return name === prefix || (name.startsWith(`${prefix}n`) && anyMachine.test(name))
}

function commandOf(pid: number): string {
  return basename(readLines(`/proc/${pid}/comm`)[0] ?? 'gone')
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function childFolders(folder: string): string[] {
  return whileThere(() =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  )
}

function childNames(folder: string): string[] {
  return whileThere(() => readdirSync(folder))
}

function readLines(path: string): string[] {
  return whileThere(() => readFileSync(path, 'utf8').split('\n')).filter((line) => line !== '')
}

/** Processes and cgroups come and go while we look. */
function whileThere(look: () => string[]): string[] {
  try {
    return look()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ESRCH') return []
    throw error
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
