// The manifests of this folder, as a person applies them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubeObject, ResourceType } from '../../src/api/kube.ts'
import { resourceDefinitionType } from '../../src/api/kube-definition.ts'
import { foreignDefinitions } from '../../src/main/crd/foreign-definitions.ts'
import type { Unsaved } from '../../src/ports/kube-api.ts'
import type { Story } from '../scenario/story.ts'

export function manifest<T extends KubeObject>(type: ResourceType<T>, path: string): Unsaved<T> {
  const object: Unsaved<T> = parse(readFileSync(join(import.meta.dirname, path), 'utf8'))
  if (object.kind !== type.kind || object.apiVersion !== type.apiVersion) throw new Error(`${path} is no ${type.kind}`)
  return object
}

/** As `slipway install --print --with-foreign` does. */
export async function installForeign({ person }: Story): Promise<void> {
  for (const definition of foreignDefinitions()) await person.creates(resourceDefinitionType, definition)
}
