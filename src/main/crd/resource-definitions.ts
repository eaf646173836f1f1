// The CustomResourceDefinitions, as `make crds` writes them to deploy/crds and `slipway install` prints them.

import type { z } from 'zod'
import type { CelRule } from '../../api/cel-rule.ts'
import {
  directUpdateRules,
  directUpdateSpecSchema,
  directUpdateStatusSchema,
  directUpdates,
} from '../../api/direct-update.ts'
import type { ResourceType } from '../../api/kube.ts'
import {
  maintenancePolicies,
  maintenancePolicyRules,
  maintenancePolicySpecSchema,
  maintenancePolicyStatusSchema,
} from '../../api/maintenance-policy.ts'
import {
  nodeProfileRules,
  nodeProfileSpecSchema,
  nodeProfileStatusSchema,
  nodeProfiles,
} from '../../api/node-profile.ts'
import { nodeStateSpecSchema, nodeStateStatusSchema, nodeStates } from '../../api/node-state.ts'
import { structuralSchema } from './structural-schema.ts'

export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly jsonPath: string
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority?: number
}

interface Definition {
  readonly resource: ResourceType
  readonly shortName: string
  readonly description: string
  readonly columns: readonly Column[]
  readonly rules: readonly CelRule[]
  readonly spec: z.ZodType
  readonly status: z.ZodType
}

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

const definitions: readonly Definition[] = [
  {
    resource: directUpdates,
    shortName: 'sdu',
    description: 'Runs one update now on the nodes it selects.',
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Progress', type: 'string', jsonPath: '.status.progress' },
      { name: 'Target', type: 'string', jsonPath: '.spec.kubernetes.version' },
      { name: 'Script', type: 'string', jsonPath: '.spec.script.configMap', priority: 1 },
      age,
    ],
    rules: directUpdateRules,
    spec: directUpdateSpecSchema,
    status: directUpdateStatusSchema,
  },
  {
    resource: nodeStates,
    shortName: 'nst',
    description: 'What is to be done on one node, and what became of it. Written by Slipway only, named as the node.',
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.rollout.phase' },
      { name: 'Update', type: 'string', jsonPath: '.status.rollout.update' },
      { name: 'Kubelet', type: 'string', jsonPath: '.status.agent.facts.kubelet' },
      { name: 'Order', type: 'string', jsonPath: '.status.agent.order.state', priority: 1 },
      { name: 'Reason', type: 'string', jsonPath: '.status.rollout.reason.message', priority: 1 },
      age,
    ],
    rules: [],
    spec: nodeStateSpecSchema,
    status: nodeStateStatusSchema,
  },
  {
    resource: nodeProfiles,
    shortName: 'snp',
    description: 'What every host of a kind should have, kept true; removing it takes back what it added.',
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes.total' },
      { name: 'Applied', type: 'integer', jsonPath: '.status.nodes.applied' },
      { name: 'Drifted', type: 'integer', jsonPath: '.status.nodes.drifted' },
      { name: 'Failed', type: 'integer', jsonPath: '.status.nodes.failed' },
      { name: 'Priority', type: 'integer', jsonPath: '.spec.priority', priority: 1 },
      age,
    ],
    rules: nodeProfileRules,
    spec: nodeProfileSpecSchema,
    status: nodeProfileStatusSchema,
  },
  {
    resource: maintenancePolicies,
    shortName: 'smp',
    description: 'How much of the cluster may be away at once, and the ledger of what is. One object, named default.',
    columns: [
      { name: 'Paused', type: 'boolean', jsonPath: '.spec.paused' },
      { name: 'Epoch', type: 'integer', jsonPath: '.status.ledger.epoch' },
      age,
    ],
    rules: maintenancePolicyRules,
    spec: maintenancePolicySpecSchema,
    status: maintenancePolicyStatusSchema,
  },
]

export function resourceDefinitions(): readonly CustomResourceDefinition[] {
  return definitions.map(resourceDefinition)
}

function resourceDefinition(definition: Definition): CustomResourceDefinition {
  const { resource, shortName, columns } = definition
  const [group = '', version = ''] = resource.apiVersion.split('/')
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource.plural}.${group}` },
    spec: {
      group,
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular: resource.kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['slipway'],
      },
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: objectSchema(definition) },
        },
      ],
    },
  }
}

function objectSchema({ description, rules, spec, status }: Definition): object {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec),
      status: structuralSchema(status),
    },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  }
}
