// `make image` writes dist/image/slipway.tar, an image for this machine's architecture, from what `make build` made.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { imageArchive } from './image-archive.ts'
import { baseLayer, programLayer } from './image-files.ts'

const repository = join(import.meta.dirname, '../../..')
const dist = join(repository, 'dist')
const architectures: Readonly<Record<string, string>> = { x64: 'amd64' }

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')))
const archive = imageArchive({
  name: 'slipway',
  tag: version,
  architecture: architectures[arch()] ?? arch(),
  entrypoint: ['node', '/opt/slipway/slipway.mjs'],
  env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  layers: [await baseLayer(process.execPath, process.env.PATH ?? ''), await programLayer(dist)],
})
await mkdir(join(dist, 'image'), { recursive: true })
await writeFile(join(dist, 'image/slipway.tar'), archive)
process.stdout.write(`dist/image/slipway.tar: slipway:${version}, ${(archive.length / 1024 ** 2).toFixed(1)} MiB\n`)
