// Builds the programs with `go` from published modules, for machines that reach a module proxy but not the download sites.

import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { type ModuleBuild, moduleBuilds, type ProgramSet } from './program-set.ts'
import { runProgram } from './run-program.ts'

// Go writes null for an empty list.
const goModFile = z.object({
  Require: z.array(z.object({ Path: z.string(), Version: z.string() })).nullish(),
  Replace: z.array(z.object({ Old: z.object({ Path: z.string() }), New: z.object({ Path: z.string() }) })).nullish(),
})
type GoModFile = z.infer<typeof goModFile>
const downloadedModule = z.object({ Dir: z.string() })

// Fewer collections, and nothing for debuggers, which the linker would drop: a tenth of the time.
const goEnv = { GOWORK: 'off', GOFLAGS: '-mod=mod -buildvcs=false', CGO_ENABLED: '0', GOGC: '400' }
const withoutDebugging = '-gcflags=all=-dwarf=false'

/** Puts every program of the set into the folder. `scratch` is created and removed again. */
export async function buildPrograms(set: ProgramSet, folder: string, scratch: string): Promise<void> {
  try {
    for (const [index, build] of moduleBuilds(set).entries()) {
      await buildModule(build, folder, join(scratch, String(index)))
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function buildModule(build: ModuleBuild, folder: string, scratch: string): Promise<void> {
  const go = await copyModule(build, scratch)
  const edits = publishedInstead(await readModule(scratch), build)
  if (edits.length > 0) await go('mod', 'edit', ...edits)
  const packages = Object.values(build.packages)
  await writeTools(scratch, packages)
  const flags = ['-s', '-w', ...build.stamps.flatMap((stamp) => ['-X', stamp])].join(' ')
  // Several at once share the cores better; one whose package has another name is built alone.
  const [[only = '', its = ''] = []] = Object.entries(build.packages)
  const target = packages.length === 1 && basename(its) !== only ? join(folder, only) : `${folder}/`
  await go('build', '-trimpath', withoutDebugging, '-ldflags', flags, '-o', target, ...packages)
}

/** In its own repository a module's neighbours are folders; here they are the modules published from them. */
function publishedInstead({ Require, Replace }: GoModFile, { module, version }: ModuleBuild): string[] {
  const relative = (Replace ?? []).filter(({ New }) => New.Path.startsWith('.')).map(({ Old }) => Old.Path)
  const dropped = relative.map((path) => `-dropreplace=${path}`)
  if (module !== 'k8s.io/kubernetes') return dropped
  const staged = version.replace(/^v1\./, 'v0.')
  return [
    ...dropped,
    ...relative.flatMap((path) => [`-require=${path}@${staged}`, `-replace=${path}=${path}@${staged}`]),
    ...(Require ?? []).filter(({ Version }) => Version === 'v0.0.0').map(({ Path }) => `-require=${Path}@${staged}`),
  ]
}

/** A module of our own with the same requirements: one with relative replaces cannot be installed directly. */
async function copyModule({ module, version }: ModuleBuild, scratch: string) {
  await mkdir(scratch, { recursive: true })
  const go = (...args: readonly string[]) => runProgram('go', args, { cwd: scratch, env: goEnv })
  const { Dir } = downloadedModule.parse(JSON.parse(await go('mod', 'download', '-json', `${module}@${version}`)))
  for (const file of ['go.mod', 'go.sum']) {
    await copyFile(join(Dir, file), join(scratch, file))
    await chmod(join(scratch, file), 0o644)
  }
  await go('mod', 'edit', '-module=slipway.test/programs', `-require=${module}@${version}`)
  return go
}

async function readModule(scratch: string): Promise<GoModFile> {
  return goModFile.parse(JSON.parse(await runProgram('go', ['mod', 'edit', '-json'], { cwd: scratch, env: goEnv })))
}

function writeTools(scratch: string, packages: readonly string[]): Promise<void> {
  const imports = packages.map((name) => `import _ "${name}"\n`).join('')
  return writeFile(join(scratch, 'tools.go'), `//go:build tools\n\npackage tools\n\n${imports}`)
}
