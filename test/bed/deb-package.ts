import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProgram } from './run-program.ts'

export interface DebFile {
  /** In the installed system, from its root. */
  readonly path: string
  readonly content: string | { readonly file: string }
  /** 0644 if not said. */
  readonly mode?: number
}

export interface DebPackage {
  readonly name: string
  readonly version: string
  /** `all` if not said. */
  readonly architecture?: string
  readonly files?: readonly DebFile[]
  /** Paths among the files that the administrator may edit. */
  readonly conffiles?: readonly string[]
  readonly scripts?: Readonly<Partial<Record<'preinst' | 'postinst' | 'prerm' | 'postrm', string>>>
  /** More fields of its control file: Depends, Recommends, Conflicts … */
  readonly control?: Readonly<Record<string, string>>
}

/** This machine's own architecture, in Debian's words. */
export const debArchitecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** Packs it into the folder and returns the path of the package. */
export async function buildDeb(deb: DebPackage, folder: string): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'slipway-deb-'))
  try {
    await chmod(tree, 0o755)
    for (const { path, content, mode = 0o644 } of deb.files ?? []) {
      const target = join(tree, path)
      await mkdir(dirname(target), { recursive: true })
      if (typeof content === 'string') await writeFile(target, content)
      else await copyFile(content.file, target)
      await chmod(target, mode)
    }
    await mkdir(join(tree, 'DEBIAN'))
    await writeFile(join(tree, 'DEBIAN/control'), controlOf(deb))
    if (deb.conffiles !== undefined) await writeFile(join(tree, 'DEBIAN/conffiles'), lines(deb.conffiles))
    for (const [name, script] of Object.entries(deb.scripts ?? {})) {
      await writeFile(join(tree, 'DEBIAN', name), script, { mode: 0o755 })
    }
    const file = join(folder, `${deb.name}_${deb.version.replace(/^\d+:/, '')}_${deb.architecture ?? 'all'}.deb`)
    await mkdir(folder, { recursive: true })
    await runProgram('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, file])
    return file
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}

function controlOf({ name, version, architecture = 'all', control = {} }: DebPackage): string {
  return lines([
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    'Maintainer: Slipway bed <bed@slipway.test>',
    'Section: misc',
    'Priority: optional',
    ...Object.entries(control).map(([field, value]) => `${field}: ${value}`),
    `Description: ${name} ${version} (test bed)`,
  ])
}

function lines(texts: readonly string[]): string {
  return `${texts.join('\n')}\n`
}
