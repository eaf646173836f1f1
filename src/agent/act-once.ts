import type { StepStart } from '../api/journal.ts'
import type { ActStep } from './drivers/driver.ts'
import { toldHost } from './logs/act-log.ts'
import { knowing, type Start, type StepRun, type Tally } from './step-run.ts'

/** Journalled like a start of a program, so that a crash in the middle is seen. */
export async function actOnce(run: StepRun, step: ActStep, tally: Tally, signal: AbortSignal): Promise<Start> {
  const { host, folder, index, context, clock } = run
  const process = { pid: 0, startTime: '', bootId: await host.bootId() }
  const begun: StepStart = { step: step.name, ...tally, startedAt: clock.now().toISOString(), process }
  await run.time.begins({ step: step.name, starts: tally.starts })
  await folder.begin(index, begun)
  run.onStarted()
  run.log.info('step started', { order: context.order.id, step: step.name, start: tally.starts })
  try {
    await step.act({ ...knowing(context, begun), host: toldHost(host, folder, index, tally.starts) }, signal)
    return { begun, ending: { state: 'exited', exitCode: 0 } }
  } catch (error) {
    if (signal.aborted) throw error
    return { begun, ending: { state: 'threw', error } }
  }
}
