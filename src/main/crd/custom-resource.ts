// A kind with one version and a status, as the API server wants to be told of it.

import type { ResourceType } from '../../api/kube.ts'
import type { Column } from './column.ts'

export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

interface Kind {
  readonly resource: ResourceType
  /** Beside those that follow from the kind. */
  readonly names: { readonly shortNames?: readonly string[]; readonly categories?: readonly string[] }
  readonly columns: readonly Column[]
  readonly schema: object
}

export function customResource({ resource, names, columns, schema }: Kind): CustomResourceDefinition {
  const { kind, plural, namespaced } = resource
  const [group = '', version = ''] = resource.apiVersion.split('/')
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), ...names },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  }
}
