// Maintenance jobs: scripts from a ConfigMap or a web server, pinned by their SHA-256, one after another in the order given. A
// script that fails is a failure, and so is its validation; nothing after it is started.

import type { Reason } from '../../../api/reason.ts'
import type { JobWork } from '../../../api/work.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Download } from '../../../ports/download.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import type { ActStep, Driver, JobStep, Staging, Step } from '../driver.ts'
import { scriptStep, stageScript, whyNotRunnable } from '../script.ts'
import type { JobRecord } from './job-record.ts'

export interface JobTools {
  readonly download: Download
  readonly record: JobRecord
  readonly clock: Clock
}

const scriptBytes = 1024 * 1024
const longestName = 40
const suffixes = { validation: '-validate', note: '-done' } as const

export function jobsDriver(tools: JobTools): Driver {
  return {
    name: 'jobs',
    concerns: ({ work }) => (work.jobs?.length ?? 0) > 0,
    inspect: async ({ host }) => ({ jobs: await tools.record.read(host.disk) }),
    stage: async (staging, signal) => {
      for (const job of staging.order.work.jobs ?? []) {
        if (await tools.record.has(staging.host.disk, job)) continue
        const reason = await stageJob(tools, job, staging, signal)
        if (reason) return reason
      }
      return undefined
    },
    steps: ({ work }) => (work.jobs ?? []).flatMap((job, _, jobs) => stepsOf(tools, job, jobs)),
    undo: { possible: false, because: 'only its author knows what a script did', endsUndo: 'WhenDone' },
  }
}

async function stageJob(
  { download }: JobTools,
  job: JobWork,
  staging: Staging,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const reason = job.script
    ? await stageScript(job.script, staging, signal)
    : ((await stageDownload(download, job, staging, signal)) ?? (await whyNotRunnable(job, staging)))
  return reason ?? (job.validate && (await stageScript(job.validate, staging, signal)))
}

async function stageDownload(
  download: Download,
  { name, url, sha256: wanted }: JobWork,
  { host, order, content, stagingFolder }: Staging,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (await content.has(wanted)) return undefined
  if (url === undefined)
    return { code: 'ScriptMissing', message: `job ${name} names neither a ConfigMap nor an address` }
  if (order.work.bundle) {
    return { code: 'DownloadRefused', message: `job ${name} comes from ${url}, but the order allows its bundle only` }
  }
  const to = `${stagingFolder}/job-${wanted}`
  const reason = await download.fetch({ url, sha256: wanted, to, mode: 0o700, maxBytes: scriptBytes }, signal)
  if (reason) return reason
  const text = (await host.disk.read(to)) ?? ''
  if (sha256(text) !== wanted) return { code: 'ContentMismatch', message: `${url} is not UTF-8 text` }
  await content.keep(text)
  return undefined
}

function stepsOf({ record, clock }: JobTools, job: JobWork, all: readonly JobWork[]): readonly Step[] {
  const name = `job-${stepWord(job.name, all)}`
  const holds: NonNullable<Step['holds']> = ({ host }) => record.has(host.disk, job)
  const run = (step: JobStep): JobStep => ({ ...step, holds })
  const note: ActStep = {
    name: `${name}${suffixes.note}`,
    disruptive: false,
    attempts: 3,
    brief: true,
    holds,
    act: ({ host }) => record.add(host.disk, job, clock.now()),
  }
  return [
    run(scriptStep(name, job)),
    ...(job.validate ? [run(scriptStep(`${name}${suffixes.validation}`, job.validate))] : []),
    note,
  ]
}

/**
 * A step's name also names a unit and a file: letters, digits and `-`, and not too long. Where another job of the order has a step of
 * that name it is told apart; a job alone keeps its name, by which an order begun by an older agent goes on.
 */
function stepWord(name: string, all: readonly JobWork[]): string {
  const suffixesOf = ({ validate }: JobWork) => [suffixes.note, ...(validate ? [suffixes.validation] : [])]
  const isTaken = all.some((job) => suffixesOf(job).some((suffix) => name === `${job.name}${suffix}`))
  if (!isTaken && name.length <= longestName && /^[a-z0-9-]+$/.test(name)) return name
  return `${name.replace(/[^a-z0-9-]/g, '-').slice(0, longestName - 9)}-${sha256(name).slice(0, 8)}`
}
