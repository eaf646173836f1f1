// A host made as its NodeProfiles want it, and what no profile wants any more taken back. The whole desired state comes with
// the order; what was there before stands in a record of its own that outlives orders.

import { type DesiredState, emptyState } from '../../../api/desired-state.ts'
import type { Order } from '../../../api/node-state.ts'
import { type AppliedState, argumentChangeSchema, stateBeforeSchema } from '../../../api/profile-record.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { corrupt } from '../../journal/sealed-file.ts'
import type { Turn } from '../../turn.ts'
import type { ActStep, Driver, Staging, Step, StepContext } from '../driver.ts'
import { stageContent } from '../stage-content.ts'
import { parseDesired } from './desired-text.ts'
import { inWords, settingDifferences } from './differences.ts'
import { finish, isSettled } from './finish.ts'
import {
  type ArgumentWork,
  applyKernelArguments,
  type FindKernelArguments,
  isNothing,
  pendingArguments,
} from './kernel-arguments-work.ts'
import { applyRepositories, packagesStep, repositoryDifference, stagePackages } from './package-work.ts'
import { pictureOf } from './picture.ts'
import { whyNotPlaceable } from './placeable.ts'
import { recordShelf } from './record.ts'
import { isRetired, retireSettings } from './retire.ts'
import { anyUnit, applySettings, isPending, kubeletUnit, restartKubelet } from './settings.ts'
import { type OpenSealed, placedFiles, type Site } from './site.ts'
import { whyDrain, whyDrainFirst } from './undrained.ts'

export interface ProfileDriverOptions {
  /** Where the agent keeps what outlives orders. */
  readonly stateDir: string
  readonly open: OpenSealed
  readonly findKernelArguments: FindKernelArguments
  /** Shared with the watch for drift: one of them at a time changes the host and the record. */
  readonly turn: Turn
  now(): Date
}

/** What the host is brought to: what the order wants, or what was there before it. */
interface Direction {
  readonly prefix: string
  readonly note: string
  target(context: StepContext): Promise<DesiredState>
  applied(context: StepContext): Promise<AppliedState | undefined>
}

const beforeNote = 'profile-before'
const attempts = 3

export function profileDriver(options: ProfileDriverOptions): Driver {
  const siteOf = ({ host }: StepContext): Site => ({
    host,
    record: recordShelf(host.disk, options.stateDir),
    open: options.open,
  })
  const forth: Direction = {
    prefix: 'profile',
    note: 'profile-packages',
    target: readTarget,
    applied: async (context) => {
      const { applied } = await siteOf(context).record.load()
      const { sha256 } = wanted(context.order)
      // Said once: done again, it must come out the same.
      if (applied?.sha256 === sha256) return applied
      return { sha256, at: options.now().toISOString(), state: await readTarget(context) }
    },
  }
  const back: Direction = {
    prefix: 'undo-profile',
    note: 'undo-profile-packages',
    target: async (context) => (await readBefore(context))?.state ?? emptyState,
    applied: readBefore,
  }
  return {
    name: 'profile',
    concerns: ({ work }) => work.profile !== undefined,
    inspect: async (context, signal) => pictureOf(siteOf(context), await readTarget(context), options, signal),
    stage: (staging, signal) => stage(staging, siteOf(staging), options, signal),
    steps: () => stepsFor(forth),
    undo: {
      possible: true,
      steps: () => [stageBack(back), ...stepsFor(back)],
    },
  }

  function stepsFor(direction: Direction): readonly Step[] {
    const { prefix, note, target, applied } = direction
    const act = (
      name: string,
      part: Pick<ActStep, 'holds' | 'act' | 'missing'>,
      nature: Partial<ActStep> = {},
    ): Step => ({
      name: `${prefix}-${name}`,
      disruptive: true,
      attempts,
      ...nature,
      ...part,
      act: (context, signal) => options.turn.take(() => part.act(context, signal)),
    })
    return [
      act('retire', {
        holds: async (context) => {
          const record = await siteOf(context).record.load()
          return isRetired(record, await target(context)) && !isPending(record)
        },
        act: async (context, signal) => retireSettings(siteOf(context), await target(context), signal),
      }),
      act('repositories', {
        holds: async (context, signal) =>
          (await repositoryDifference(siteOf(context), await target(context), signal)) === undefined,
        act: async (context, signal) => applyRepositories(siteOf(context), await target(context), signal),
        missing: async (context, signal) => repositoryDifference(siteOf(context), await target(context), signal),
      }),
      packagesStep({ name: `${prefix}-packages`, note, turn: options.turn }, siteOf, target),
      act('settings', {
        holds: async (context, signal) =>
          (await settingsMissing(siteOf(context), await target(context), signal)) === undefined,
        act: async (context, signal) => {
          const wish = await target(context)
          // Looked at when it was staged, too; packages may have taken their time since.
          const reason = await whyDrain(siteOf(context), context.order, wish, signal)
          if (reason) throw new SlipwayError(reason.code, reason.message)
          await applySettings(siteOf(context), wish, anyUnit, signal)
        },
        missing: async (context, signal) => settingsMissing(siteOf(context), await target(context), signal),
      }),
      act(
        'restart-kubelet',
        {
          holds: async (context) => !(await siteOf(context).record.load()).pending.restarts.includes(kubeletUnit),
          act: (context, signal) => restartKubelet(siteOf(context), signal),
        },
        { restartsKubelet: true },
      ),
      act(
        'kernel-arguments',
        {
          holds: async (context, signal) =>
            isNothing(await pendingArguments(await argumentWork(context, direction), signal)),
          act: async (context, signal) => applyKernelArguments(await argumentWork(context, direction), signal),
          missing: async (context, signal) => {
            const { add, remove } = await pendingArguments(await argumentWork(context, direction), signal)
            const off = [...add.map((one) => `${one} is not set`), ...remove.map((one) => `${one} is still set`)]
            return off.length === 0 ? undefined : off.join(', ')
          },
        },
        { isKeptAtShutdown: true },
      ),
      act(
        'record',
        {
          holds: async (context) =>
            isSettled(await siteOf(context).record.load(), await target(context), await applied(context)),
          act: async (context, signal) =>
            finish(siteOf(context), await target(context), await applied(context), signal),
        },
        { disruptive: false, brief: true },
      ),
    ]
  }

  async function argumentWork(context: StepContext, { prefix, target }: Direction): Promise<ArgumentWork> {
    const name = `${prefix}-kernel-arguments`
    return {
      site: siteOf(context),
      target: await target(context),
      find: options.findKernelArguments,
      asked: await context.notes.read(name, argumentChangeSchema),
      note: (change) => context.notes.write(name, change),
    }
  }

  /** Old versions are fetched only when they are needed after all. */
  function stageBack({ prefix, note, target }: Direction): Step {
    return {
      name: `${prefix}-stage`,
      disruptive: false,
      attempts,
      act: async (context, signal) => {
        const record = await siteOf(context).record.load()
        const reason = await stagePackages(context, { note, target: await target(context), record }, signal)
        if (reason) throw new SlipwayError(reason.code, reason.message)
      },
    }
  }
}

async function stage(
  staging: Staging,
  site: Site,
  { findKernelArguments }: ProfileDriverOptions,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const unfetched = await stageContent(wanted(staging.order), staging, signal)
  if (unfetched) return unfetched
  const { sha256 } = wanted(staging.order)
  const target = parseDesired(await staging.content.read(sha256))
  if (!target) {
    const message = `the desired state ${sha256} has a shape this agent does not know; is the agent older than the operator?`
    return { code: 'DriverMissing', message }
  }
  const record = await site.record.load()
  if (!(await staging.notes.read(beforeNote, stateBeforeSchema))) {
    await staging.notes.write(beforeNote, record.applied ? { applied: record.applied } : {})
  }
  try {
    // Opened once now: a secret that cannot be read is found while the node still works.
    const unplaceable = await whyNotPlaceable(site, await placedFiles(site, target), signal)
    if (unplaceable) return unplaceable
    await pendingArguments({ site, target, find: findKernelArguments, asked: undefined }, signal)
  } catch (error) {
    if (error instanceof SlipwayError && (error.code === 'SecretUnreadable' || error.code === 'ToolMissing')) {
      return { code: error.code, message: error.message }
    }
    throw error
  }
  return (
    (await whyDrainFirst(site, staging.order, target)) ??
    (await whyDrain(site, staging.order, target, signal)) ??
    (await stagePackages(staging, { note: 'profile-packages', target, record }, signal))
  )
}

async function settingsMissing(site: Site, target: DesiredState, signal: AbortSignal): Promise<string | undefined> {
  if (isPending(await site.record.load())) return 'systemd was not told of changed files yet'
  return inWords(await settingDifferences(site, target, signal))
}

function wanted({ work, id }: Order) {
  if (work.profile) return work.profile.desired
  throw new SlipwayError('Internal', `order ${id} has no profile`)
}

async function readTarget({ content, order }: StepContext): Promise<DesiredState> {
  const { sha256 } = wanted(order)
  const state = parseDesired(await content.read(sha256))
  if (state) return state
  throw corrupt(content.path(sha256), 'is no desired state this agent knows')
}

async function readBefore({ notes }: StepContext): Promise<AppliedState | undefined> {
  return (await notes.read(beforeNote, stateBeforeSchema))?.applied
}
