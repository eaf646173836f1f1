// `make bed`: a kubeadm cluster on booted machines, to try things on, until Ctrl-C.

import { copyFile, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBed } from './bed.ts'
import { raiseCluster } from './kubeadm-cluster.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { kubernetesVersion } from './versions.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(project, '.cache/bed')

process.stdout.write(
  'booting three machines and making a cluster of them: some minutes the first time, then less than one\n',
)
const bed = await openBed()
const cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 2 })
await cluster.importImage(join(project, 'dist/image/slipway.tar'))
const programs = await programFolder(
  { project: 'kubernetes', version: kubernetesVersion, programs: ['kubectl'] },
  sayToStderr,
)
await rm(folder, { recursive: true, force: true })
await mkdir(join(folder, 'bin'), { recursive: true })
await symlink(join(programs, 'kubectl'), join(folder, 'bin/kubectl'))
await copyFile(cluster.kubeconfigPath, join(folder, 'kubeconfig'))
process.stdout.write(`
${await cluster.kubectl(['get', 'nodes'])}
It is there until you press Ctrl-C. In another terminal, in this folder:

  export KUBECONFIG=$PWD/.cache/bed/kubeconfig PATH=$PWD/.cache/bed/bin:$PATH
`)
setInterval(() => undefined, 60_000)
