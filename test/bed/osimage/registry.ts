// A real OCI registry on the bed's bridge: Debian's docker-registry, over plain http.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ChildProgram } from '../child-program.ts'
import { inRoot } from '../closed-root.ts'
import { debianLayer } from '../debian-root.ts'
import { indexType, type OciImage } from './oci-image.ts'
import { osRoot } from './os-root.ts'
import { registryClient } from './registry-client.ts'

const port = 5000

export interface Registry {
  /** As references begin: `10.77.1.1:5000`. */
  readonly address: string
  /** Sends what the registry does not have yet, and lets the tag name it. */
  push(repository: string, tag: string, image: OciImage): Promise<void>
  /** Lets a tag name an index of manifests that are there. */
  pushIndex(repository: string, tag: string, index: Buffer): Promise<void>
  /** Lets a further tag, or a moving one, name what another names. */
  retag(repository: string, from: string, to: string): Promise<void>
  /** The digest a tag names now; undefined where there is no such tag. */
  digestOf(repository: string, tag: string): Promise<string | undefined>
  /** Content stays; `start` serves it again. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** As references begin that name a registry there. */
export const registryAt = (address: string) => `${address}:${port}`

/** It ends with `stop`, or with this process; its content goes with the bed, or with whatever else has an address and a folder. */
export async function startRegistry(bed: {
  readonly address: string
  readonly slot: { readonly folder: string }
}): Promise<Registry> {
  const address = registryAt(bed.address)
  const folder = join(bed.slot.folder, 'registry')
  await mkdir(join(folder, 'content'), { recursive: true })
  await writeFile(join(folder, 'config.yml'), configuration(address))
  const root = await osRoot()
  const layers = [await debianLayer(root, ['docker-registry']), root]
  const serve = inRoot({ layers, binds: { '/registry': folder } }, ['docker-registry', 'serve', '/registry/config.yml'])

  let running: ChildProgram | undefined
  const stop = async () => {
    // The root's own first process hears nothing else.
    await running?.stop('SIGKILL')
    running = undefined
  }
  const start = async () => {
    running = new ChildProgram(...serve, join(folder, 'registry.log'))
    try {
      await running.ready(async () => (await fetch(`http://${address}/v2/`)).ok)
    } catch (error) {
      await stop()
      throw error
    }
  }
  await start()
  const client = registryClient(address)
  return {
    address,
    push: async (repository, tag, image) => {
      for (const [digest, content] of image.blobs) await client.putBlob(repository, digest, content)
      await client.putManifest(repository, tag, image.manifest)
    },
    pushIndex: (repository, tag, index) => client.putManifest(repository, tag, index, indexType),
    retag: async (repository, from, to) => {
      await client.putManifest(repository, to, await client.manifest(repository, from))
    },
    digestOf: (repository, tag) => client.digestOf(repository, tag),
    stop,
    start,
  }
}

/** JSON is YAML. */
function configuration(address: string): string {
  return JSON.stringify({
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: '/registry/content' }, delete: { enabled: true } },
    http: { addr: address },
  })
}
