// The machine as one process reaches it: nothing it asks for happens or returns after its death, and a frozen one waits.

import type { Disk } from '../ports/disk.ts'
import type { Host } from '../ports/host.ts'
import type { HostFiles } from '../ports/host-files.ts'
import type { SecureRequests } from '../ports/secure-requests.ts'
import type { SimProcess } from './sim-process.ts'

/** Told before each disk operation that changes something; may end the process. */
export type DiskFault = (operation: keyof Disk, path: string) => 'before' | 'after' | undefined

/** Told before and after each change of the machine's processes: whether the process ends there. */
export type JobFault = (operation: 'hold' | 'release' | 'end' | 'reboot', when: 'before' | 'after') => boolean

export function hostOf(process: SimProcess, host: Host, fault?: DiskFault, jobFault?: JobFault): Host {
  const change = <R>(operation: Parameters<JobFault>[0], work: () => Promise<R>): Promise<R> => {
    if (!jobFault) return within(process, work)
    if (process.alive && jobFault(operation, 'before')) process.crash()
    return within(process, async () => {
      const done = await work()
      if (process.alive && jobFault(operation, 'after')) process.crash()
      return done
    })
  }
  return {
    disk: diskOf(process, host.disk, fault),
    files: filesOf(process, host.files),
    run: (command, signal) => within(process, () => host.run(command, signal)),
    reboot: (signal) => change('reboot', () => host.reboot(signal)),
    bootId: () => within(process, () => host.bootId()),
    uptimeMs: () => within(process, () => host.uptimeMs()),
    facts: (signal) => within(process, () => host.facts(signal)),
    hold: async (job, signal) => {
      const held = await change('hold', () => host.hold(job, signal))
      return { identity: held.identity, release: () => change('release', () => held.release()) }
    },
    look: (identity, resultPath) => within(process, () => host.look(identity, resultPath)),
    ended: (identity, signal) => within(process, () => host.ended(identity, signal)),
    end: (identity, graceMs, signal) => change('end', () => host.end(identity, graceMs, signal)),
  }
}

export function requestsOf(process: SimProcess, requests: SecureRequests): SecureRequests {
  return { send: (request, signal) => within(process, () => requests.send(request, signal)) }
}

function filesOf(process: SimProcess, files: HostFiles): HostFiles {
  return {
    look: (path) => within(process, () => files.look(path)),
    read: (path, maxBytes) => within(process, () => files.read(path, maxBytes)),
    sha256: (path) => within(process, () => files.sha256(path)),
    write: (path, content, attributes) => within(process, () => files.write(path, content, attributes)),
    rename: (from, to) => within(process, () => files.rename(from, to)),
    remove: (path) => within(process, () => files.remove(path)),
    names: (folder) => within(process, () => files.names(folder)),
    freeBytes: (path) => within(process, () => files.freeBytes(path)),
    watch: (paths, onChange, signal) =>
      within(process, () => files.watch(paths, () => process.alive && onChange(), signal)),
  }
}

function diskOf(process: SimProcess, disk: Disk, fault?: DiskFault): Disk {
  const change = <R>(operation: keyof Disk, path: string, work: () => Promise<R>): Promise<R> => {
    const hit = process.alive ? fault?.(operation, path) : undefined
    if (hit === 'before') process.crash()
    return within(process, () => {
      const done = work()
      if (hit === 'after') process.crash()
      return done
    })
  }
  return {
    read: (path) => within(process, () => disk.read(path)),
    readTail: (path, bytes) => within(process, () => disk.readTail(path, bytes)),
    readFrom: (path, offset, maxBytes) => within(process, () => disk.readFrom(path, offset, maxBytes)),
    bytes: (path) => within(process, () => disk.bytes(path)),
    names: (path) => within(process, () => disk.names(path)),
    write: (path, content, mode) => change('write', path, () => disk.write(path, content, mode)),
    sync: (path) => change('sync', path, () => disk.sync(path)),
    rename: (from, to) => change('rename', from, () => disk.rename(from, to)),
    remove: (path) => change('remove', path, () => disk.remove(path)),
    makeFolder: (path) => change('makeFolder', path, () => disk.makeFolder(path)),
    syncFolder: (path) => change('syncFolder', path, () => disk.syncFolder(path)),
    removeFolder: (path) => change('removeFolder', path, () => disk.removeFolder(path)),
  }
}

function within<R>(process: SimProcess, work: () => Promise<R>): Promise<R> {
  if (!process.alive) return new Promise(() => undefined)
  return new Promise((resolve, reject) => {
    work().then(
      (result) => settle(process, resolve, result),
      (error: unknown) => settle(process, reject, error),
    )
  })
}

function settle<T>(process: SimProcess, how: (value: T) => void, value: T): void {
  if (!process.alive) return
  if (process.clock.frozen) process.clock.after(0, () => how(value))
  else how(value)
}
