import { parse } from 'yaml'
import { imageRepositorySchema } from '../../api/kubernetes-output.ts'

const upstream = 'registry.k8s.io'

/** Where a cluster's own images come from, by kubeadm's record of it. */
export function imageRepositoryOf(clusterConfiguration: string | undefined): string {
  const parsed = imageRepositorySchema.safeParse(parsedOrNothing(clusterConfiguration ?? ''))
  return (parsed.success ? parsed.data.imageRepository : undefined) ?? upstream
}

function parsedOrNothing(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
