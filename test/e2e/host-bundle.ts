// The bundle for hosts without a container, installed as its README says.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import { debArchitecture } from '../bed/deb-package.ts'
import type { Machine } from '../bed/machine.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const name = `slipway-${packageJson.version}-linux-${debArchitecture}`
/** `make host-bundle` writes it, once, before the first test. */
const archive = join(project, 'dist/host', `${name}.tar.gz`)

export const agentService = 'slipway-agent.service'

/** What the installer says. */
export async function installHostBundle(machine: Machine, ...options: readonly string[]): Promise<string> {
  const folder = await unpackHostBundle(machine)
  const said = await machine.run(['sh', `${folder}/install.sh`, ...options])
  await machine.run(['rm', '-r', folder])
  return said
}

/** The folder with its program; nothing is installed. */
export async function unpackHostBundle(machine: Machine): Promise<string> {
  await machine.run(['tar', '-xz', '-C', '/var/tmp'], { input: { file: archive } })
  return `/var/tmp/${name}`
}
