// zsh and fish for the tests of completion, unpacked from Debian's packages into the cache; bash is on every machine.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder, exists } from './cache-folder.ts'
import { unpackPackages } from './host-packages.ts'

export interface Shells {
  readonly zsh: string
  /** The line by which zsh finds its modules and functions where they lie. */
  readonly zshSettings: string
  readonly fish: string
  /** The environment in which both find their libraries. */
  readonly env: Readonly<Record<string, string>>
}

const packages = ['zsh', 'zsh-common', 'fish', 'fish-common', 'libpcre2-32-0']

export async function unpackedShells(): Promise<Shells> {
  const root = await cachedFolder(`shells-${process.platform}-${process.arch}`, (folder) =>
    unpackPackages(packages, folder),
  )
  const libraries = await libraryFolder(root)
  const [version = ''] = await readdir(join(libraries, 'zsh'))
  const functions = join(root, 'usr/share/zsh/functions')
  const folders = ['', '/Completion', '/Completion/Base', '/Completion/Zsh', '/Completion/Unix', '/Misc', '/Zle']
  const fpath = folders.map((folder) => `${functions}${folder}`).join(' ')
  const old = join(root, 'bin/zsh')
  return {
    zsh: (await exists(old)) ? old : join(root, 'usr/bin/zsh'),
    zshSettings: `module_path=(${join(libraries, 'zsh', version)}); fpath=(${fpath})`,
    fish: join(root, 'usr/bin/fish'),
    env: { LD_LIBRARY_PATH: libraries },
  }
}

/** That of the machine's kind, as x86_64-linux-gnu. */
async function libraryFolder(root: string): Promise<string> {
  const kind = (await readdir(join(root, 'usr/lib'))).find((name) => name.includes('-linux-'))
  if (kind === undefined) throw new Error(`there is no zsh in ${root}`)
  return join(root, 'usr/lib', kind)
}
