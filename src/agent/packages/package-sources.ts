import type { Order } from '../../api/node-state.ts'
import type { PackageManager, PackageSources, RepositoryFile } from './package-manager.ts'

/** Where an order's packages come from: the host's repositories (as if `files` were there), or its bundle alone. */
export function sourcesOf(
  { order, stagingFolder }: { readonly order: Order; readonly stagingFolder: string },
  { kind }: Pick<PackageManager, 'kind'>,
  files: readonly RepositoryFile[] = [],
): PackageSources {
  if (!order.work.bundle) return { from: 'Host', with: files }
  return { from: 'Folder', folder: `${stagingFolder}/bundle/packages/${kind === 'apt' ? 'deb' : 'rpm'}` }
}
