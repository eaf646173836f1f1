// Builds the programs with `go` from published modules, for machines that reach a module proxy but not the download sites.

import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import { etcdVersion, kubernetesPrograms, kubernetesVersion } from './versions.ts'

interface GoModFile {
  readonly Require?: readonly { readonly Path: string; readonly Version: string }[]
  readonly Replace?: readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[]
}

const goEnv = { GOWORK: 'off', GOFLAGS: '-mod=mod -buildvcs=false', CGO_ENABLED: '0' }

/** Puts every program into the folder. `scratch` is created and removed again. */
export async function buildPrograms(folder: string, scratch: string): Promise<void> {
  try {
    await buildEtcd(folder, join(scratch, 'etcd'))
    await buildKubernetes(folder, join(scratch, 'kubernetes'))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function buildKubernetes(folder: string, scratch: string): Promise<void> {
  const minor = kubernetesVersion.replace(/^v1\./, '')
  const staged = `v0.${minor}`
  const go = await copyModule('k8s.io/kubernetes', kubernetesVersion, scratch)
  // In its own repository the staging modules are folders; here they are the modules published from them.
  const module = await readModule(scratch)
  const edits: string[] = []
  for (const { Old, New } of module.Replace ?? []) {
    if (!New.Path.startsWith('./')) continue
    edits.push(
      `-dropreplace=${Old.Path}`,
      `-require=${Old.Path}@${staged}`,
      `-replace=${Old.Path}=${Old.Path}@${staged}`,
    )
  }
  for (const { Path, Version } of module.Require ?? []) {
    if (Version === 'v0.0.0') edits.push(`-require=${Path}@${staged}`)
  }
  await go('mod', 'edit', ...edits)
  const packages = kubernetesPrograms.map((program) => `k8s.io/kubernetes/cmd/${program}`)
  await writeTools(scratch, packages)
  const version = 'k8s.io/component-base/version'
  const stamps = [
    `${version}.gitVersion=${kubernetesVersion}`,
    `${version}.gitMajor=1`,
    `${version}.gitMinor=${minor.split('.')[0]}`,
    `${version}.gitCommit=module`,
    `${version}.gitTreeState=clean`,
  ]
  const flags = ['-s', '-w', ...stamps.flatMap((stamp) => ['-X', stamp])].join(' ')
  await go('build', '-trimpath', '-ldflags', flags, '-o', `${folder}/`, ...packages)
}

async function buildEtcd(folder: string, scratch: string): Promise<void> {
  const go = await copyModule('go.etcd.io/etcd/server/v3', etcdVersion, scratch)
  const { Replace = [] } = await readModule(scratch)
  const relative = Replace.filter(({ New }) => New.Path.startsWith('.'))
  if (relative.length > 0) await go('mod', 'edit', ...relative.map(({ Old }) => `-dropreplace=${Old.Path}`))
  await writeTools(scratch, ['go.etcd.io/etcd/server/v3'])
  await go('build', '-trimpath', '-ldflags', '-s -w', '-o', join(folder, 'etcd'), 'go.etcd.io/etcd/server/v3')
}

/** A module of our own with the same requirements: one with relative replaces cannot be installed directly. */
async function copyModule(module: string, version: string, scratch: string) {
  await mkdir(scratch, { recursive: true })
  const go = (...args: readonly string[]) => runProgram('go', args, { cwd: scratch, env: goEnv })
  const { Dir } = JSON.parse(await go('mod', 'download', '-json', `${module}@${version}`)) as { Dir: string }
  for (const file of ['go.mod', 'go.sum']) {
    await copyFile(join(Dir, file), join(scratch, file))
    await chmod(join(scratch, file), 0o644)
  }
  await go('mod', 'edit', '-module=slipway.test/programs', `-require=${module}@${version}`)
  return go
}

async function readModule(scratch: string): Promise<GoModFile> {
  return JSON.parse(await runProgram('go', ['mod', 'edit', '-json'], { cwd: scratch, env: goEnv })) as GoModFile
}

function writeTools(scratch: string, packages: readonly string[]): Promise<void> {
  const imports = packages.map((name) => `import _ "${name}"\n`).join('')
  return writeFile(join(scratch, 'tools.go'), `//go:build tools\n\npackage tools\n\n${imports}`)
}
