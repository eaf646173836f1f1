// The definitions must be as new as the operator: fields it writes that they do not know would be lost or refused, node by node.

import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type FieldSchema, missingFields } from '../../core/definitions/missing-fields.ts'
import { installHint } from '../../core/failure.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import type { CustomResourceDefinition } from '../crd/custom-resource.ts'
import { resourceDefinitions } from '../crd/resource-definitions.ts'

const namedAtMost = 3

/** Ends the role with CrdsOutdated where one is older. Where they cannot be read now, the first write will tell. */
export async function checkDefinitions(api: KubeApi, log: Log, signal: AbortSignal): Promise<void> {
  for (const wanted of resourceDefinitions()) {
    const { name } = wanted.metadata
    try {
      const found = await api.get(resourceDefinitionType, { name }, signal)
      const missing = missingFields(schemaOf(wanted), schemaOf(found))
      if (missing.length > 0) throw outdated(name, missing)
    } catch (error) {
      if (!isKubeError(error)) throw error
      log.warn('cannot see whether the definitions are as new as this operator', { definition: name, error })
    }
  }
}

function schemaOf({ spec }: Pick<CustomResourceDefinition, 'spec'>): FieldSchema {
  const [version] = Array.isArray(spec.versions) ? spec.versions : []
  return Object(Object(version).schema).openAPIV3Schema ?? {}
}

function outdated(name: string, missing: readonly string[]): SlipwayError {
  const named = missing.slice(0, namedAtMost).join(', ')
  const more = missing.length > namedAtMost ? ` and ${missing.length - namedAtMost} more` : ''
  return new SlipwayError(
    'CrdsOutdated',
    `CustomResourceDefinition ${name} is older than this operator: it does not know ${named}${more}`,
    { nextStep: `bring the definitions up to date: helm upgrade, or ${installHint}` },
  )
}
