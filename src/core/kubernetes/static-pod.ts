import { parse } from 'yaml'
import { type StaticPod, staticPodSchema } from '../../api/kubernetes-output.ts'

/** What kubeadm makes on a control-plane node; etcd is one of them unless it is elsewhere. */
export const controlPlaneComponents = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const

/** Undefined for what is no manifest of a pod, a half-written one included. */
export function parseStaticPod(manifest: string): StaticPod | undefined {
  const parsed = staticPodSchema.safeParse(parseYaml(manifest))
  return parsed.success ? parsed.data : undefined
}

export function staticPodImage(manifest: string): string | undefined {
  return parseStaticPod(manifest)?.spec.containers[0]?.image
}

/** The image tag kubeadm gives to a version: a tag may hold no `+`. */
export function versionTag(version: string): string {
  return version.replaceAll('+', '_')
}

/** `registry:5000/name:tag@sha256:…` → `tag`; undefined where there is none. */
export function imageTag(reference: string): string | undefined {
  const [named = ''] = reference.split('@')
  const name = named.slice(named.lastIndexOf('/') + 1)
  return name.includes(':') ? name.slice(name.indexOf(':') + 1) : undefined
}

/** Where this host's own API server answers, from its manifest; the certificate names that address. */
export function localApiServer(manifest: string): string | undefined {
  const container = parseStaticPod(manifest)?.spec.containers[0]
  const words = [...(container?.command ?? []), ...(container?.args ?? [])]
  const settingOf = (flag: string) => words.findLast((word) => word.startsWith(`--${flag}=`))?.slice(flag.length + 3)
  const address = settingOf('advertise-address')
  if (address === undefined) return undefined
  return `https://${address.includes(':') ? `[${address}]` : address}:${settingOf('secure-port') ?? '6443'}`
}

/** JSON is YAML as well, and read much faster as what it is. */
function parseYaml(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : parse(text)
  } catch {
    return undefined
  }
}
