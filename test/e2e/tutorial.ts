// docs/tutorial.md, carried out: each of its blocks marked `sh`, in order, as a reader would type them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute } from '../bed/execute.ts'
import type { KubeadmCluster } from '../bed/kubeadm-cluster.ts'
import { programFolder, sayToStderr } from '../bed/programs.ts'
import { kubernetesVersion } from '../bed/versions.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))

export interface CommandBlock {
  readonly section: string
  readonly commands: string
}

export function tutorialBlocks(): readonly CommandBlock[] {
  const text = readFileSync(join(project, 'docs/tutorial.md'), 'utf8')
  const blocks: CommandBlock[] = []
  for (const part of text.split(/^## /m).slice(1)) {
    const [section = ''] = part.split('\n')
    for (const [, commands = ''] of part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)) blocks.push({ section, commands })
  }
  return blocks
}

/** What its blocks of one section printed, each with the commands; throws at the first that fails. */
export async function follow(section: string, cluster: KubeadmCluster): Promise<string> {
  const blocks = tutorialBlocks().filter((block) => block.section === section)
  if (blocks.length === 0) throw new Error(`docs/tutorial.md has no commands under "${section}"`)
  const set = { project: 'kubernetes', version: kubernetesVersion, programs: ['kubectl'] } as const
  const path = `${await programFolder(set, sayToStderr)}:${process.env.PATH}`
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath, PATH: path, NO_COLOR: '1' } as Record<
    string,
    string
  >
  const told: string[] = []
  for (const { commands } of blocks) {
    const script = `cd '${project}'\n${commands}`
    const { code, stdout, stderr } = await execute(['bash', '-euo', 'pipefail', '-c', script], { env })
    told.push(`$ ${commands}${stdout}${stderr}`)
    if (code !== 0) throw new Error(`ended with ${code}:\n${told.join('\n')}`)
  }
  return told.join('\n')
}
