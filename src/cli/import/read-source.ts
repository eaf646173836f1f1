// Where another tool's settings are read from: a file with one or more documents, or the cluster.

import { type ForeignDaemonSet, foreignDaemonSetSchema } from '../../api/foreign-daemon-set.ts'
import { daemonSets, type KubeObject, type ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type UpgradePlan, upgradePlanSchema, upgradePlans } from '../../api/upgrade-plan.ts'
import { yamlFault } from '../../core/file-fault.ts'
import { runsProgram } from '../../core/import/flags.ts'
import { shapeFaults } from '../../core/shape-faults.ts'
import type { CommandContext } from '../command-context.ts'
import { readText } from '../read-text.ts'

export interface SourceOptions {
  readonly filename?: string
  /** `namespace/name` */
  readonly daemonset?: string
}

interface Found<T> {
  readonly value: T
  /** For people: kind, namespace and name. */
  readonly what: string
}

export async function readDaemonSet(
  context: CommandContext,
  program: string,
  options: SourceOptions,
): Promise<Found<ForeignDaemonSet>> {
  const all = (await objectsOf(context, daemonSets, options)).map((object) => parsed(foreignDaemonSetSchema, object))
  const named = all.filter(({ what }) => options.daemonset === undefined || what === `DaemonSet ${options.daemonset}`)
  const running = named.filter(({ value }) => runsProgram(value, program))
  const found = options.daemonset !== undefined || (running.length === 0 && options.filename) ? named : running
  const [first, ...more] = found
  const where = options.filename ?? 'the cluster'
  if (!first) {
    const missing =
      options.daemonset === undefined ? `no DaemonSet that runs ${program}` : `no DaemonSet ${options.daemonset}`
    throw new SlipwayError('NotFound', `there is ${missing} in ${where}`, {
      nextStep: 'name it: --daemonset NAMESPACE/NAME, or give its manifest: -f FILE',
    })
  }
  if (more.length > 0) {
    const names = found.map(({ what }) => what.replace('DaemonSet ', '')).join(', ')
    throw new SlipwayError('Usage', `there is more than one DaemonSet in ${where}: ${names}`, {
      nextStep: 'name the one that is meant: --daemonset NAMESPACE/NAME',
    })
  }
  return first
}

export async function readPlans(
  context: CommandContext,
  options: SourceOptions,
): Promise<readonly Found<UpgradePlan>[]> {
  const found = (await objectsOf(context, upgradePlans, options)).map((object) => parsed(upgradePlanSchema, object))
  if (found.length > 0) return found
  throw new SlipwayError(
    'NotFound',
    `there is no Plan (${upgradePlans.apiVersion}) in ${options.filename ?? 'the cluster'}`,
    {
      nextStep: 'give the manifests: -f FILE',
    },
  )
}

async function objectsOf(
  context: CommandContext,
  type: ResourceType<KubeObject>,
  { filename }: SourceOptions,
): Promise<readonly unknown[]> {
  return filename === undefined ? fromCluster(context, type) : fromFile(context, type, filename)
}

async function fromFile(context: CommandContext, type: ResourceType, filename: string): Promise<readonly unknown[]> {
  const nextStep = 'give a file with the manifest, as kubectl get -o yaml prints it'
  const text = await readText(context, filename, nextStep)
  const { documents } = await context.yaml()
  try {
    return documents(text)
      .flatMap(membersOf)
      .filter((object) => isOf(object, type))
  } catch (cause) {
    throw new SlipwayError('Usage', `${filename} is not YAML: ${yamlFault(cause)}`, { nextStep, cause })
  }
}

/** kubectl prints several objects as one List. */
function membersOf(document: unknown): readonly unknown[] {
  if (typeof document !== 'object' || document === null) return []
  return 'items' in document && Array.isArray(document.items) ? document.items.flatMap(membersOf) : [document]
}

function isOf(object: unknown, { kind, apiVersion }: ResourceType): boolean {
  if (typeof object !== 'object' || object === null || !('kind' in object) || object.kind !== kind) return false
  const [group] = apiVersion.split('/')
  return 'apiVersion' in object && String(object.apiVersion).startsWith(`${group}/`)
}

async function fromCluster<T extends KubeObject>(
  context: CommandContext,
  type: ResourceType<T>,
): Promise<readonly T[]> {
  const api = await context.api()
  const found: T[] = []
  let continueToken: string | undefined
  do {
    const page = await api
      .list(type, { limit: 500, ...(continueToken !== undefined && { continueToken }) }, context.signal)
      .catch((error: unknown) => {
        // A cluster without the kind has none of them.
        if (isKubeError(error, 'NotFound')) return { items: [], resourceVersion: '' }
        throw error
      })
    found.push(...page.items)
    continueToken = 'continueToken' in page ? page.continueToken : undefined
  } while (continueToken !== undefined)
  return found
}

interface Schema<T> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: Parameters<typeof shapeFaults>[0] }
}

function parsed<T extends { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } }>(
  schema: Schema<T>,
  object: unknown,
): Found<T> {
  const result = schema.safeParse(object)
  if (!result.success) {
    const faults = shapeFaults({ issues: result.error.issues.slice(0, 3) })
    throw new SlipwayError('Usage', `it cannot be read: ${faults}`, {
      nextStep: 'give it as the API server has it: kubectl get -o yaml',
    })
  }
  const { name, namespace } = result.data.metadata
  const kind = schema === foreignDaemonSetSchema ? daemonSets.kind : upgradePlans.kind
  return { value: result.data, what: `${kind} ${namespace ?? 'default'}/${name}` }
}
