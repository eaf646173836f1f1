// `make image` writes dist/image/slipway.tar, an image for this machine's architecture, from what `make build` made.

import { mkdir, writeFile } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../../package.json' with { type: 'json' }
import { imageArchive } from './image-archive.ts'
import { baseLayer, programFiles } from './image-files.ts'
import { slipwayImage } from './slipway-image.ts'

const { version } = packageJson
const dist = join(import.meta.dirname, '../../../dist')
const architectures: Readonly<Record<string, string>> = { x64: 'amd64' }

const archive = imageArchive(
  slipwayImage(version, {
    architecture: architectures[arch()] ?? arch(),
    layers: [await baseLayer(process.execPath, process.env.PATH ?? ''), await programFiles(dist, 'opt/slipway')],
  }),
)
await mkdir(join(dist, 'image'), { recursive: true })
await writeFile(join(dist, 'image/slipway.tar'), archive)
process.stdout.write(`dist/image/slipway.tar: slipway:${version}, ${(archive.length / 1024 ** 2).toFixed(1)} MiB\n`)
