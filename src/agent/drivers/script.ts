// A script from an immutable ConfigMap, pinned by its SHA-256. What it does cannot be known or looked at, so it counts as
// disruptive, is tried once, and its exit code, or that of the validation script, is the proof.

import type { Content } from '../../api/work.ts'
import type { Driver, JobStep, StepContext } from './driver.ts'
import { stageContent } from './stage-content.ts'

export const scriptDriver: Driver = {
  name: 'script',
  concerns: (order) => order.work.script !== undefined,
  inspect: () => Promise.resolve({}),
  stage: async (staging, signal) => {
    const { script } = staging.order.work
    if (!script) return undefined
    const reason = await stageContent(script, staging, signal)
    return reason ?? (script.validate && (await stageContent(script.validate, staging, signal)))
  },
  steps: ({ work }) => [
    ...(work.script ? [scriptStep('script', work.script)] : []),
    ...(work.script?.validate ? [scriptStep('validate', work.script.validate)] : []),
  ],
  undo: { possible: false, because: 'only its author knows what a script did', endsUndo: 'WhenDone' },
}

export function scriptStep(name: string, content: Pick<Content, 'sha256'>): JobStep {
  return { name, disruptive: true, attempts: 1, argv: (context) => scriptArguments(context, content.sha256) }
}

/** A script that names its interpreter is run as it is; any other by the shell. Checked again before each start. */
async function scriptArguments({ content }: StepContext, sha256: string): Promise<readonly string[]> {
  const path = content.path(sha256)
  return (await content.read(sha256)).startsWith('#!') ? [path] : ['/bin/sh', path]
}
