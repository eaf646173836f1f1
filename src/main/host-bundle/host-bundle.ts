// The program for hosts that run it without a container: with its Node, its unit and an installer, in one archive.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { agentUnit } from '../../cli/install/agent-unit.ts'
import { programFiles } from '../image/image-files.ts'
import { type TarEntry, tar } from '../image/tar.ts'

export interface HostBundleParts {
  readonly repository: string
  /** What `make build` made. */
  readonly dist: string
  readonly version: string
  readonly architecture: string
  readonly node: Buffer
  /** Of that Node. */
  readonly nodeLicence?: Buffer
}

export function hostBundleName(version: string, architecture: string): string {
  return `slipway-${version}-linux-${architecture}`
}

/** The same parts make the same bytes. */
export async function hostBundle(parts: HostBundleParts): Promise<Buffer> {
  const { repository, dist, version, architecture, node, nodeLicence } = parts
  const folder = hostBundleName(version, architecture)
  const file = (name: string, content: Buffer, mode = 0o644): TarEntry => ({
    path: `${folder}/${name}`,
    kind: 'file',
    mode,
    content,
  })
  const ours = (path: string) => readFile(join(repository, path))
  const entries = [
    ...(await programFiles(dist, folder)),
    file('node', node, 0o755),
    file('slipway', await ours('deploy/host/slipway'), 0o755),
    file('install.sh', await ours('deploy/host/install.sh'), 0o755),
    file('slipway-agent.service', Buffer.from(agentUnit())),
    file('README.md', await ours('deploy/host/README.md')),
    file('LICENSE', await ours('LICENSE')),
    ...(nodeLicence === undefined ? [] : [file('LICENSE.node', nodeLicence)]),
  ]
  return gzipSync(tar(entries), { level: 6 })
}
