// slipway host forget: on the machine itself, when Slipway goes for good.

import type { Command } from 'commander'
import { localSocketPath, localStateSchema } from '../../api/local-protocol.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { askAgent } from '../ask-agent.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { stateDir as usualStateDir } from '../install/workloads.ts'

interface ForgetCommandOptions {
  readonly stateDir: string
  readonly hostRoot: string
  readonly yes?: boolean
}

export function addHostForget(parent: Command, run: RunAction): void {
  parent
    .command('forget')
    .summary('remove what the agent kept on this machine')
    .description(
      'Removes the journal, logs and keys that the agent kept on this machine; slipway uninstall does that on every host. Refused while an agent runs or an order has not ended. What may be the only copy of something stays, and is named.',
    )
    .option('--state-dir <dir>', 'where the journal is kept', usualStateDir)
    .option('--host-root <dir>', "where the host's root is mounted; / = it runs on the host itself", '/')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  systemctl disable --now slipway-agent && slipway host forget')
    .action(run(runForget))
}

async function runForget(context: CommandContext, options: ForgetCommandOptions): Promise<number> {
  const { stateDir, hostRoot, yes } = options
  await refuseLivingAgent(context, hostRoot)
  if (!yes && !(await context.confirm(`This removes ${stateDir} from this machine. Go on? Type yes: `))) {
    throw new SlipwayError('Usage', 'nothing was removed: it has to be confirmed', {
      nextStep: 'answer yes, or run: slipway host forget --yes',
    })
  }
  const kept = await context.forgetHost({ stateDir, hostRoot }, context.signal)
  if (kept.length > 0) {
    const named = kept.map(({ path, why }) => `${path} (${why})`).join('; ')
    throw new SlipwayError('Refused', `this stays on the host: ${named}`, {
      nextStep: `see to what is named; what nobody needs any more: rm -r ${stateDir}`,
    })
  }
  context.out.write('nothing of the agent is left on this machine\n')
  return exitCode.done
}

/** It would write on, into files that are gone. */
async function refuseLivingAgent(context: CommandContext, hostRoot: string): Promise<void> {
  const socket = hostRoot === '/' ? localSocketPath : `${hostRoot}${localSocketPath}`
  try {
    await askAgent(context, socket, { ask: 'state' }, localStateSchema, () => {})
  } catch (error) {
    if (error instanceof SlipwayError && error.code === 'CannotReach') return
    throw error
  }
  throw new SlipwayError('Refused', 'an agent runs on this machine; nothing was removed', {
    nextStep: 'stop it first: systemctl disable --now slipway-agent, or slipway uninstall',
  })
}
