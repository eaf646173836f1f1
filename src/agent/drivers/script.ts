// A script from an immutable ConfigMap, pinned by its SHA-256. What it does cannot be known or looked at, so it counts as
// disruptive, is tried once, and its exit code, or that of the validation script, is the proof.

import type { Reason } from '../../api/reason.ts'
import type { Content } from '../../api/work.ts'
import type { Driver, JobStep, Staging, StepContext } from './driver.ts'
import { stageContent } from './stage-content.ts'

export const scriptDriver: Driver = {
  name: 'script',
  concerns: (order) => order.work.script !== undefined,
  inspect: () => Promise.resolve({}),
  stage: async (staging, signal) => {
    const { script } = staging.order.work
    if (!script) return undefined
    const reason = await stageScript(script, staging, signal)
    return reason ?? (script.validate && (await stageScript(script.validate, staging, signal)))
  },
  steps: ({ work }) => [
    ...(work.script ? [scriptStep('script', work.script)] : []),
    ...(work.script?.validate ? [scriptStep('validate', work.script.validate)] : []),
  ],
  undo: { possible: false, because: 'only its author knows what a script did', endsUndo: 'WhenDone' },
}

export async function stageScript(wanted: Content, staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  return (await stageContent(wanted, staging, signal)) ?? (await whyNotRunnable(wanted, staging))
}

/** The kernel takes the line as it is: with the end that Windows gives it, it names an interpreter that no host has. */
export async function whyNotRunnable(
  { sha256 }: Pick<Content, 'sha256'>,
  { content }: Pick<Staging, 'content'>,
): Promise<Reason | undefined> {
  const [, interpreter] = /^#![ \t]*(.*\r)\n/.exec(await content.read(sha256)) ?? []
  if (interpreter === undefined) return undefined
  const message = `the script with SHA-256 ${sha256} names its interpreter ${JSON.stringify(interpreter)}: its lines end with CR LF; save it with LF`
  return { code: 'ToolMissing', message }
}

export function scriptStep(name: string, content: Pick<Content, 'sha256'>): JobStep {
  const argv = (context: StepContext) => scriptArguments(context, content.sha256)
  return { name, disruptive: true, attempts: 1, showsEffect: false, argv }
}

/** A script that names its interpreter is run as it is; any other by the shell. Checked again before each start. */
async function scriptArguments({ content }: StepContext, sha256: string): Promise<readonly string[]> {
  const path = content.path(sha256)
  return (await content.read(sha256)).startsWith('#!') ? [path] : ['/bin/sh', path]
}
