import { type Minor, switchedToMinor } from '../../core/kubernetes/kubernetes-repository.ts'
import type { RepositoryFile, RepositorySwitch } from './package-manager.ts'

/** Of those files that have entries of Kubernetes. */
export function switchesTo(files: readonly RepositoryFile[], minor: Minor): readonly RepositorySwitch[] {
  return files.flatMap(({ path, content: before }) => {
    const after = switchedToMinor(path, before, minor)
    return after === undefined ? [] : [{ path, before, after }]
  })
}
