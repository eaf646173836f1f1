// The kinds an installation consists of, as the API server calls them, in the order in which they are applied.

import {
  daemonSets,
  deployments,
  type KubeObject,
  namespaces,
  podDisruptionBudgets,
  type ResourceType,
} from '../../api/kube.ts'
import { resourceDefinitionType } from '../../api/kube-definition.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Manifest } from './manifest.ts'

/** By this label everything of an installation is found again. */
export const ourLabel = 'app.kubernetes.io/name=slipway'

const type = (apiVersion: string, kind: string, plural: string, namespaced: boolean): ResourceType => ({
  ...{ apiVersion, kind, plural, namespaced },
})

const rbac = 'rbac.authorization.k8s.io/v1'
const admission = 'admissionregistration.k8s.io/v1'

export interface BindingObject extends KubeObject {
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

export const clusterRoleBindings: ResourceType<BindingObject> = {
  ...{ apiVersion: rbac, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
}

/** Without namespace and definitions: those are kept or removed for reasons of their own. */
export const installedKinds: readonly ResourceType[] = [
  type('v1', 'ServiceAccount', 'serviceaccounts', true),
  type(rbac, 'ClusterRole', 'clusterroles', false),
  clusterRoleBindings,
  type(rbac, 'Role', 'roles', true),
  type(rbac, 'RoleBinding', 'rolebindings', true),
  type(admission, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
  type(admission, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false),
  podDisruptionBudgets,
  type('v1', 'Service', 'services', true),
  type('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', true),
  deployments,
  daemonSets,
]

export function kindOf({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): ResourceType {
  const known = [namespaces, resourceDefinitionType, ...installedKinds]
  const found = known.find((other) => other.apiVersion === apiVersion && other.kind === kind)
  if (found) return found
  throw new SlipwayError('Internal', `nobody said how ${kind} (${apiVersion}) is called in the API`, {
    nextStep: 'report this; meanwhile run: slipway install --print | kubectl apply --server-side -f -',
  })
}
