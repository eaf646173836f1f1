// Writes what an import made. What stands there already and says otherwise is shown first, and changed only by --force.

import { type DirectUpdate, directUpdateSpecSchema, directUpdates } from '../../api/direct-update.ts'
import { type ConfigMap, configMaps, type KubeObject, type ResourceType } from '../../api/kube.ts'
import {
  type MaintenancePolicy,
  maintenancePolicies,
  maintenancePolicySpecSchema,
} from '../../api/maintenance-policy.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Imported, ImportedObject } from '../../core/import/imported.ts'
import { equalJson, mergePatch } from '../../core/merge-patch.ts'
import { shapeFaults } from '../../core/shape-faults.ts'
import type { KubeApi, Unsaved } from '../../ports/kube-api.ts'
import type { CommandContext } from '../command-context.ts'
import type { Yaml } from '../dependencies.ts'
import { find } from '../read-cluster.ts'
import { signed } from '../who-am-i.ts'

/** What is to be done for one object, decided before anything is written. */
interface Step {
  readonly what: string
  readonly state: 'made' | 'changed' | 'unchanged'
  /** Fields that say otherwise there, with both sides. */
  readonly differences: readonly Difference[]
  readonly write: () => Promise<unknown>
}

interface Difference {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

export async function applyImported(context: CommandContext, imported: Imported, isForced: boolean): Promise<void> {
  refuseUnfinished(imported)
  const api = await context.api()
  const steps: Step[] = []
  for (const object of imported.objects) steps.push(await stepFor(api, object, context.signal))
  const differing = steps.filter(({ differences }) => differences.length > 0)
  const yaml = await context.yaml()
  for (const { what, differences } of differing) context.out.write(differenceText(what, differences, yaml))
  if (differing.length > 0 && !isForced) {
    const fields = differing.flatMap(({ what, differences }) => differences.map(({ field }) => `${what} ${field}`))
    throw new SlipwayError('Refused', `nothing was written: it says otherwise already (${fields.join(', ')})`, {
      nextStep: 'look at the difference above; --force puts the lines with + in place of those with -',
    })
  }
  for (const { what, state, write } of steps) {
    await write()
    context.out.write(`${what} ${state}\n`)
  }
}

function refuseUnfinished({ objects, remarks }: Imported): void {
  const open = remarks.filter(({ kind }) => kind === 'ToFillIn')
  if (open.length > 0) {
    throw new SlipwayError('Refused', `${open.map(({ what, text }) => `${what}: ${text}`).join('; ')}`, {
      nextStep: 'write it to a file (without --apply), fill in what is named at its head, then kubectl apply -f FILE',
    })
  }
  for (const { kind, spec } of objects) {
    const schema = kind === maintenancePolicies.kind ? maintenancePolicySpecSchema : directUpdateSpecSchema
    const result = spec === undefined ? undefined : schema.safeParse(spec)
    if (result === undefined || result.success) continue
    throw new SlipwayError('Refused', `what it became is no ${kind}: ${shapeFaults(result.error)}`, {
      nextStep: 'write it to a file (without --apply), correct what is named, then kubectl apply -f FILE',
    })
  }
}

async function stepFor(api: KubeApi, object: ImportedObject, signal: AbortSignal): Promise<Step> {
  const { apiVersion, kind, metadata, spec, data } = object
  if (kind === maintenancePolicies.kind) {
    const policy = { apiVersion, kind, metadata, spec: maintenancePolicySpecSchema.parse(spec) }
    return await step<MaintenancePolicy>(api, maintenancePolicies, policy, 'spec', signal)
  }
  if (kind === directUpdates.kind) {
    const asked = await signed(api, metadata, signal)
    const update = { apiVersion, kind, metadata: asked, spec: directUpdateSpecSchema.parse(spec) }
    return await step<DirectUpdate>(api, directUpdates, update, 'spec', signal)
  }
  return await step<ConfigMap>(api, configMaps, { apiVersion, kind, metadata, data: data ?? {} }, 'data', signal)
}

async function step<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  object: Unsaved<T> & { readonly metadata: ImportedObject['metadata'] },
  part: 'spec' | 'data',
  signal: AbortSignal,
): Promise<Step> {
  const what = `${type.kind} ${object.metadata.name}`
  const there = await find<T>(api, type, object.metadata, signal)
  if (!there) return { what, state: 'made', differences: [], write: () => api.create(type, object, signal) }

  const before = partOf(there, part)
  const wanted = partOf(object, part)
  // Fields that it says nothing of stay as they are.
  const after = { ...before, ...wanted }
  const differences = Object.entries(wanted)
    .filter(([field, value]) => before[field] !== undefined && !equalJson(before[field], value))
    .map(([field, value]) => ({ field: `${part}.${field}`, before: before[field], after: value }))
  const patch = mergePatch(before, after)
  if (patch === undefined) return { what, state: 'unchanged', differences: [], write: async () => undefined }
  const { uid, resourceVersion } = there.metadata
  const body = { metadata: { uid, resourceVersion }, [part]: patch }
  return {
    ...{ what, state: 'changed', differences },
    write: () => api.patch(type, object.metadata, { type: 'merge', body }, signal),
  }
}

function partOf(object: object, part: 'spec' | 'data'): Readonly<Record<string, unknown>> {
  const value: unknown = Object.entries(object).find(([key]) => key === part)?.[1]
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function differenceText(what: string, differences: readonly Difference[], yaml: Yaml): string {
  const marked = (mark: string, field: string, value: unknown) =>
    yaml
      .print({ [field]: value })
      .trimEnd()
      .split('\n')
      .map((line) => `${mark} ${line}\n`)
      .join('')
  const parts = differences.map(({ field, before, after }) => marked('-', field, before) + marked('+', field, after))
  return `${what}:\n${parts.join('')}`
}
