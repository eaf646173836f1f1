// Which maintenance jobs this host has done. A job with the same name and content never runs twice here, whatever orders come.

import { jobRecordSchema } from '../../../api/journal.ts'
import { type DoneJob, maxDoneJobs } from '../../../api/node-state.ts'
import type { JobWork } from '../../../api/work.ts'
import type { Disk } from '../../../ports/disk.ts'
import { readSealed, seal, writeAtomically } from '../../journal/sealed-file.ts'

export const jobRecordFile = 'jobs.json'

export class JobRecord {
  readonly #stateDir: string
  readonly #listeners = new Set<() => void>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  async read(disk: Disk): Promise<readonly DoneJob[]> {
    return (await readSealed(disk, `${this.#stateDir}/${jobRecordFile}`, jobRecordSchema))?.jobs ?? []
  }

  async has(disk: Disk, job: JobWork): Promise<boolean> {
    return (await this.read(disk)).some((done) => isSame(done, job))
  }

  async add(disk: Disk, { name, sha256 }: JobWork, finishedAt: Date): Promise<void> {
    const before = await this.read(disk)
    if (before.some((done) => isSame(done, { name, sha256 }))) return
    const jobs = bounded([...before, { name, sha256, finishedAt: finishedAt.toISOString() }])
    await writeAtomically(disk, this.#stateDir, jobRecordFile, seal({ jobs }))
    for (const listener of this.#listeners) listener()
  }

  /** Calls back after each addition; returns how to end that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** A job of which another version was done since is forgotten before one that may still be asked for. */
function bounded(jobs: readonly DoneJob[]): readonly DoneJob[] {
  const replaced = jobs.filter(({ name }, index) => jobs.slice(index + 1).some((later) => later.name === name))
  const surplus = Math.max(0, jobs.length - maxDoneJobs)
  const forgotten = [...new Set([...replaced, ...jobs])].slice(0, surplus)
  return jobs.filter((job) => !forgotten.includes(job))
}

function isSame(done: DoneJob, job: Pick<JobWork, 'name' | 'sha256'>): boolean {
  return done.name === job.name && done.sha256 === job.sha256
}
