import { z } from 'zod'
import type { Disk } from '../ports/disk.ts'
import type { Job, ProcessIdentity } from '../ports/host.ts'
import { pretendFolder, writeDurably } from './pretend-state.ts'

const jobsFolder = `${pretendFolder}/jobs`

/** A job that runs, as the pretend machine's kernel knows it: it goes on while nobody pretends. */
export interface KeptJob {
  readonly identity: ProcessIdentity
  readonly job: Job
  /** By the wall clock. */
  readonly endsAtMs: number
}

const keptJobSchema = z.object({
  identity: z.object({ pid: z.int(), startTime: z.string(), bootId: z.string() }),
  job: z.object({
    name: z.string(),
    argv: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    logPath: z.string(),
    logBytes: z.number(),
    resultPath: z.string(),
  }),
  endsAtMs: z.number(),
})

export async function keepJob(disk: Disk, kept: KeptJob): Promise<void> {
  await disk.makeFolder(jobsFolder)
  await writeDurably(disk, pathOf(kept.identity.pid), `${JSON.stringify(kept)}\n`)
}

export async function forgetJob(disk: Disk, pid: number): Promise<void> {
  if ((await disk.read(pathOf(pid))) !== undefined) await disk.remove(pathOf(pid))
}

/** It ran, and left no result. */
export async function keepKilled(disk: Disk, pid: number): Promise<void> {
  if ((await disk.read(pathOf(pid))) !== undefined) await disk.rename(pathOf(pid), killedPath(pid))
}

export async function wasKilled(disk: Disk, pid: number): Promise<boolean> {
  return (await disk.bytes(killedPath(pid))) !== undefined
}

export async function keptJobs(disk: Disk): Promise<readonly KeptJob[]> {
  const kept: KeptJob[] = []
  for (const name of await disk.names(jobsFolder)) {
    const text = name.endsWith('.json') ? await disk.read(`${jobsFolder}/${name}`) : undefined
    if (text) kept.push(keptJobSchema.parse(JSON.parse(text)))
  }
  return kept
}

function killedPath(pid: number): string {
  return `${jobsFolder}/${pid}.killed`
}

function pathOf(pid: number): string {
  return `${jobsFolder}/${pid}.json`
}
