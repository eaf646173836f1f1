// Container images without a builder or a registry: one layer made of a folder, in an archive that `ctr images import` takes.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'

export interface ContainerImage {
  /** With its tag. */
  readonly name: string
  /** The folder that becomes its root. */
  readonly root: string
  readonly entrypoint: readonly string[]
}

export async function writeImageArchive({ name, root, entrypoint }: ContainerImage, archive: string): Promise<void> {
  const tree = await mkdtemp(`${archive}.new-`)
  try {
    await runProgram('tar', [
      '--numeric-owner',
      '--owner=0',
      '--group=0',
      '-C',
      root,
      '-cf',
      join(tree, 'layer.tar'),
      '.',
    ])
    const layer = await sha256(join(tree, 'layer.tar'))
    await mkdir(join(tree, layer))
    await rename(join(tree, 'layer.tar'), join(tree, layer, 'layer.tar'))
    const config = JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: { Entrypoint: entrypoint, Env: ['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
      history: [{ created_by: 'slipway test bed' }],
    })
    const configFile = `${createHash('sha256').update(config).digest('hex')}.json`
    const manifest = [{ Config: configFile, RepoTags: [name], Layers: [`${layer}/layer.tar`] }]
    await writeFile(join(tree, configFile), config)
    await writeFile(join(tree, 'manifest.json'), JSON.stringify(manifest))
    await runProgram('tar', ['-C', tree, '-cf', archive, configFile, `${layer}/layer.tar`, 'manifest.json'])
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk)
  return hash.digest('hex')
}
