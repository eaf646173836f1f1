import type { CommandContext } from '../command-context.ts'
import { JsonLinesProgress, silentProgress } from './json-lines.ts'
import { LiveProgress } from './live.ts'
import { PlainProgress } from './plain.ts'
import type { ProgressSink } from './sink.ts'

/** `lines`: live on a terminal, plain otherwise, nothing with --quiet. */
export function progressSink(
  { out, clock, options }: CommandContext,
  how: 'lines' | 'json-lines' | 'none',
): ProgressSink {
  switch (how) {
    case 'none':
      return silentProgress
    case 'json-lines':
      return new JsonLinesProgress(out)
    case 'lines':
      if (options.quiet) return silentProgress
      return out.isTTY ? new LiveProgress(out, clock) : new PlainProgress(out)
  }
}
