// `make host-bundle` writes dist/host/slipway-VERSION-linux-ARCH.tar.gz for this machine's architecture, with the Node we run on.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../../package.json' with { type: 'json' }
import { hostBundle, hostBundleName } from './host-bundle.ts'

const { version } = packageJson
const repository = join(import.meta.dirname, '../../..')
const dist = join(repository, 'dist')
const architecture = arch() === 'x64' ? 'amd64' : arch()
const path = `host/${hostBundleName(version, architecture)}.tar.gz`

const node = await readFile(process.execPath)
const archive = await hostBundle({ repository, dist, version, architecture, node })
await mkdir(join(dist, 'host'), { recursive: true })
await writeFile(join(dist, path), archive)
process.stdout.write(`dist/${path}: ${(archive.length / 1024 ** 2).toFixed(1)} MiB\n`)
