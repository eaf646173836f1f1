import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Component, Content, KubernetesWish, KubernetesWork, OsWork, Work } from '../../api/work.ts'
import { parseVersion } from '../version.ts'
import { componentsOf } from './drivers-for.ts'
import { isLastStep, type PathStep } from './path-step.ts'

/** Of a step before the last only what the way needs is done; runtimes, etcd and all other work come once, with the target. */
const alongTheWay: ReadonlySet<Component> = new Set(['kubeadm', 'kubelet', 'kubectl'])

/** What an update asks of each of its nodes. The profile it names, if any, is computed for each node when its order is made. */
export function workOf(
  { kubernetes, os, script, binary, reboot, airGapped, stamps }: DirectUpdateSpec,
  namespace: string,
  step?: PathStep,
): Work {
  const content = (sha256: string): Content => ({ configMap: contentName(sha256), namespace, sha256 })
  const bundle = airGapped && { bundle: airGapped.bundle }
  if (!isLastStep(step)) return { ...bundle, ...(kubernetes && { kubernetes: kubernetesWork(kubernetes, step) }) }
  return {
    ...bundle,
    ...(script && {
      script: { ...content(script.sha256), ...(script.validate && { validate: content(script.validate.sha256) }) },
    }),
    ...(os && { os: osWorkOf(os) }),
    ...(kubernetes && { kubernetes: kubernetesWork(kubernetes, step) }),
    ...(binary && { binary }),
    ...(reboot !== undefined && { reboot }),
    ...(stamps && { stamps }),
  }
}

function kubernetesWork(wish: KubernetesWish, step: PathStep | undefined): KubernetesWork {
  const { workers: _, ...work } = wish
  // Written with or without its v; everybody else, kubelets too, says it with one.
  if (!step) return { ...work, version: parseVersion(work.version)?.text ?? work.version }
  if (isLastStep(step) || !wish.components) return { ...work, version: step.version }
  const components = componentsOf(wish).filter((component) => alongTheWay.has(component))
  return { ...work, version: step.version, components }
}

/** A host is told what to have, not how it was found. */
function osWorkOf({ resolve: _, ...os }: NonNullable<DirectUpdateSpec['os']>): OsWork {
  return os
}

/** The immutable ConfigMap that carries a content, one per content. */
export function contentName(sha256: string): string {
  return `slipway-content-${sha256.slice(0, 40)}`
}
