// A DirectUpdate as a person wrote it into a file, maybe among other objects.

import { type DirectUpdateSpec, directUpdateSpecSchema, directUpdates } from '../api/direct-update.ts'
import { objectName } from '../api/scalars.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { yamlFault } from '../core/file-fault.ts'
import { shapeFaults } from '../core/shape-faults.ts'
import type { CliDependencies } from './dependencies.ts'
import { readText } from './read-text.ts'

type FileDependencies = Pick<CliDependencies, 'err' | 'readFile' | 'yaml'>
type Written = Readonly<Record<string, unknown>>

interface UpdateFile {
  readonly name?: string
  readonly spec: DirectUpdateSpec
}

/** The one DirectUpdate of the file; what else is in it is named, for it stays undone. */
export async function readUpdate(deps: FileDependencies, path: string): Promise<UpdateFile> {
  const all = await documentsOf(deps, path)
  const updates = all.filter(isUpdate)
  const [update] = updates
  if (!update || updates.length > 1) {
    const found = updates.length > 1 ? `holds ${updates.length} DirectUpdates` : 'is not a DirectUpdate'
    throw new SlipwayError('Usage', `${path} ${found}`, {
      nextStep: `it must hold one, with apiVersion: ${directUpdates.apiVersion} and kind: ${directUpdates.kind}`,
    })
  }
  const others = all.filter((document) => document !== update).map(title)
  if (others.length > 0)
    deps.err.write(`left alone in ${path}: ${others.join(', ')}; to apply them: kubectl apply -f ${path}\n`)
  const spec = checkedSpec(update.spec, path)
  const name = isRecord(update.metadata) ? update.metadata.name : undefined
  if (name === undefined) return { spec }
  const checkedName = objectName.safeParse(name)
  if (checkedName.success) return { name: checkedName.data, spec }
  throw new SlipwayError('Usage', `${path}: ${shapeFaults(checkedName.error, 'metadata.name')}`)
}

export function checkedSpec(spec: unknown, where: string): DirectUpdateSpec {
  const result = directUpdateSpecSchema.safeParse(spec)
  if (result.success) return result.data
  throw new SlipwayError('Usage', `${where}: ${shapeFaults(result.error, 'spec')}`, {
    nextStep: 'correct what is named; kubectl explain directupdate.spec tells the fields',
  })
}

async function documentsOf({ err: _, yaml, ...deps }: FileDependencies, path: string): Promise<readonly unknown[]> {
  const text = await readText(deps, path)
  const { documents } = await yaml()
  try {
    return documents(text)
  } catch (cause) {
    throw new SlipwayError('Usage', `${path} is not YAML: ${yamlFault(cause)}`, {
      nextStep: 'correct it and try again',
      cause,
    })
  }
}

function isUpdate(document: unknown): document is Written {
  return isRecord(document) && document.kind === directUpdates.kind && document.apiVersion === directUpdates.apiVersion
}

function title(document: unknown): string {
  if (!isRecord(document)) return 'something that is no object'
  const name = isRecord(document.metadata) ? document.metadata.name : undefined
  return [document.kind ?? 'an object without a kind', name ?? ''].join(' ').trim()
}

function isRecord(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
