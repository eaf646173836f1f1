// From options or a file to the DirectUpdate that is meant; everything wrong with it is said before anything is sent.

import { type BackupPoint, backupPoints, type UpdateBackupSpec } from '../api/backup-plan.ts'
import type { DirectUpdateSpec } from '../api/direct-update.ts'
import type { CheckName } from '../api/preflight.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { StrategySpec } from '../api/strategy.ts'
import { parseSelector } from '../core/selector-text.ts'
import { strategyOf } from '../core/update/waves.ts'
import type { CliDependencies } from './dependencies.ts'
import { readText } from './read-text.ts'
import { type ScriptContent, scriptContent } from './script-content.ts'
import { checkedSpec, readUpdate } from './update-file.ts'

export interface DraftOptions {
  readonly kubernetes?: string
  readonly osImage?: string
  readonly osPackages?: 'Security' | 'All'
  readonly profile?: string
  readonly reboot?: DirectUpdateSpec['reboot']
  readonly rollback?: DirectUpdateSpec['rollback']
  readonly script?: string
  readonly filename?: string
  readonly name?: string
  readonly selector?: string
  readonly maxUnavailable?: number | string
  readonly maxFailures?: number
  readonly nodeTimeout?: string
  readonly skipCheck?: readonly CheckName[]
  readonly operationTimeout?: string
  readonly strategy?: StrategySpec['type']
  readonly waves?: readonly (number | string)[]
  readonly soak?: string
  readonly skip?: readonly string[]
  readonly backup?: UpdateBackupSpec['etcd']
  readonly backupStore?: string
  readonly backupBefore?: readonly BackupPoint[]
  readonly backupVerify?: UpdateBackupSpec['verify']
  readonly backupMaxAge?: string
}

export interface Draft {
  readonly update: {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
    readonly spec: DirectUpdateSpec
  }
  /** Present when a script of ours must be stored first. */
  readonly script: ScriptContent | undefined
}

type DraftDependencies = Pick<CliDependencies, 'err' | 'random' | 'readFile' | 'sha256' | 'yaml'>

export async function draftUpdate(deps: DraftDependencies, options: DraftOptions): Promise<Draft> {
  const { kubernetes, osImage, osPackages, profile, reboot, filename } = options
  if (
    [kubernetes, osImage, osPackages, profile, reboot, options.script, filename].every((what) => what === undefined)
  ) {
    throw new SlipwayError('Usage', 'there is nothing to do: the command names no work', {
      nextStep:
        'give --kubernetes VERSION, --os-image IMAGE, --os-packages Security, --profile NAME, --script FILE, --reboot Always or -f FILE',
    })
  }
  const script = options.script === undefined ? undefined : await readScript(deps, options.script)
  const file = options.filename === undefined ? undefined : await readUpdate(deps, options.filename)
  const spec = checkedSpec({ ...file?.spec, ...specOf(options, script, file?.spec) }, options.filename ?? 'the options')
  const name = options.name ?? file?.name ?? madeName(spec, deps.random.uuid())
  return { update: { metadata: { name }, spec }, script }
}

function specOf(
  options: DraftOptions,
  script: ScriptContent | undefined,
  given: DirectUpdateSpec | undefined,
): DirectUpdateSpec {
  const { kubernetes, osImage, osPackages, profile, reboot, rollback, selector, nodeTimeout } = options
  const { operationTimeout, skip, skipCheck } = options
  const strategy = strategyFrom(options, given?.strategy)
  const backup = backupFrom(options, given?.backup)
  return {
    ...(kubernetes !== undefined && { kubernetes: { version: kubernetes } }),
    ...((osImage !== undefined || osPackages !== undefined) && {
      os: { ...(osImage !== undefined && { image: osImage }), ...(osPackages && { packages: osPackages }) },
    }),
    ...(profile !== undefined && { profile }),
    ...(reboot !== undefined && { reboot }),
    ...(rollback !== undefined && { rollback }),
    ...(script && { script: { configMap: script.configMap, sha256: script.sha256 } }),
    ...(selector !== undefined && { nodeSelector: copied(parseSelector(selector)) }),
    ...(Object.keys(strategy).length > 0 && { strategy }),
    ...(nodeTimeout !== undefined && { nodeTimeout }),
    ...(skipCheck && { preflight: { skip: [...skipCheck] } }),
    ...(operationTimeout !== undefined && { operationTimeout }),
    ...(skip && { skip: [...skip] }),
    ...(Object.keys(backup).length > 0 && { backup }),
  }
}

function backupFrom(options: DraftOptions, given: UpdateBackupSpec = {}): UpdateBackupSpec {
  const { backup: etcd, backupStore: store, backupBefore: before, backupVerify: verify, backupMaxAge: maxAge } = options
  return {
    ...given,
    ...(etcd && { etcd }),
    ...(store !== undefined && { store }),
    // Named twice is named once.
    ...(before && { before: backupPoints.filter((point) => before.includes(point)) }),
    ...(verify && { verify }),
    ...(maxAge !== undefined && { maxAge }),
  }
}

function strategyFrom(options: DraftOptions, given: StrategySpec = {}): StrategySpec {
  const { strategy: type, waves, soak, maxUnavailable, maxFailures } = options
  const base = { ...given, ...(type && { type }) }
  const sizes = waves?.map((size) => ({ size })) ?? (soak === undefined ? undefined : strategyOf(base).waves)
  // The last wave has nothing after it to wait for.
  const soaked = sizes?.map((wave, index) => ({
    ...wave,
    ...(soak !== undefined && index < sizes.length - 1 && { soak }),
  }))
  return {
    ...base,
    ...(soaked && { waves: soaked }),
    ...(maxUnavailable !== undefined && { maxUnavailable }),
    ...(maxFailures !== undefined && { maxFailures }),
  }
}

/** Readonly lists as the schema's plain ones. */
function copied({
  matchLabels,
  matchExpressions,
}: ReturnType<typeof parseSelector>): NonNullable<DirectUpdateSpec['nodeSelector']> {
  return {
    ...(matchLabels && { matchLabels: { ...matchLabels } }),
    ...(matchExpressions && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values && { values: [...values] }),
      })),
    }),
  }
}

function madeName(spec: DirectUpdateSpec, uuid: string): string {
  return `${stemOf(spec)}-${uuid.slice(0, 5)}`
}

function stemOf({ kubernetes, os, profile, script, binary }: DirectUpdateSpec): string {
  if (kubernetes)
    return `to-${kubernetes.version
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/-$/, '')}`
  if (script) return `script-${script.sha256.slice(0, 8)}`
  if (os) return os.image === undefined ? 'packages' : 'image'
  if (profile !== undefined) return 'profile'
  return binary ? 'binary' : 'reboot'
}

async function readScript(deps: DraftDependencies, path: string): Promise<ScriptContent> {
  return scriptContent(await readText(deps, path), path, deps.sha256)
}
