// Repositories of such packages, shaped like the per-minor ones of Kubernetes: packages and index signed, the key beside them.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bed } from '../bed.ts'
import { cachedFolder } from '../cache-folder.ts'
import { inRoot } from '../closed-root.ts'
import { contentKey } from '../content-key.ts'
import type { Machine } from '../machine.ts'
import { runProgram } from '../run-program.ts'
import { type Signer, signingKey } from '../signing-key.ts'
import { type Advisory, updateInfo } from './rpm-advisory.ts'
import { type RpmPackage, specOf } from './rpm-package.ts'
import { rpmLayers } from './rpm-root.ts'

export interface RpmRepositoryOptions {
  /** Whose key signs packages and index. The key the repository offers is the trusted one all the same. */
  readonly signer?: Signer | 'nobody'
  /** What the index says about some of the packages; nothing if not said, as in the repositories of Kubernetes. */
  readonly advisories?: readonly Advisory[]
}

export interface RepositoryFile {
  readonly name: string
  readonly url: string
  /** Names that are held back unless a command says otherwise, as the guide to kubeadm has it. */
  readonly exclude?: readonly string[]
  /** Whether the packages' signatures are asked for, and the index's; they are if not said. */
  readonly arePackagesChecked?: boolean
  readonly isIndexChecked?: boolean
}

// In /work lie the specs and the advisories, if any; /keys has the secret key, where one signs, and the public one on offer. $1 is who signs, or nobody.
const build = `set -eu
cd /work; mkdir repository
for spec in specs/*.spec; do rpmbuild --quiet -bb --nodeps --define '_topdir /run/rpmbuild' "$spec"; done
cp /run/rpmbuild/RPMS/*/*.rpm repository/
if [ "$1" != nobody ]; then
  export GNUPGHOME=/run/gnupg; mkdir -m 700 /run/gnupg; gpg --batch --quiet --import /run/secret.gpg
  rpmsign --define '__gpg /usr/bin/gpg' --define "_gpg_name $1@slipway.test" --addsign repository/*.rpm >/dev/null
fi
createrepo_c --quiet repository
[ ! -e updateinfo.xml ] || modifyrepo_c updateinfo.xml repository/repodata >/dev/null
[ "$1" = nobody ] || gpg --batch --armor --detach-sign repository/repodata/repomd.xml
cp /run/offered.key repository/repodata/repomd.xml.key`

/** Builds the packages and serves them under that path; the same ones are taken from the cache. Returns the address. */
export async function publishRpms(
  bed: Bed,
  path: string,
  packages: readonly RpmPackage[],
  { signer = 'trusted', advisories = [] }: RpmRepositoryOptions = {},
): Promise<string> {
  const layers = await rpmLayers('dnf')
  const specs = packages.map(specOf)
  const told = advisories.length === 0 ? [] : [updateInfo(advisories)]
  const { armoredPath } = await signingKey('trusted')
  const secret = signer === 'nobody' ? undefined : (await signingKey(signer)).secretPath
  const key = contentKey(...layers, build, signer, armoredPath, ...specs, ...told)
  const folder = await cachedFolder(`rpm-repository-${key}`, async (fresh) => {
    await mkdir(join(fresh, 'specs'))
    for (const [number, spec] of specs.entries()) await writeFile(join(fresh, 'specs', `${number}.spec`), spec)
    for (const info of told) await writeFile(join(fresh, 'updateinfo.xml'), info)
    const keys = { '/run/offered.key': armoredPath, ...(secret === undefined ? {} : { '/run/secret.gpg': secret }) }
    await runProgram(...inRoot({ layers, binds: { '/work': fresh, ...keys } }, ['sh', '-c', build, 'build', signer]))
    await rm(join(fresh, 'specs'), { recursive: true })
  })
  return bed.repositories.serve(path, join(folder, 'repository'))
}

/** Tells the machine's dnf of a repository. */
export async function writeRepositoryFile(machine: Machine, file: RepositoryFile): Promise<void> {
  const lines = [
    `[${file.name}]`,
    `name=${file.name}`,
    `baseurl=${file.url}`,
    'enabled=1',
    `gpgcheck=${file.arePackagesChecked === false ? 0 : 1}`,
    `repo_gpgcheck=${file.isIndexChecked === false ? 0 : 1}`,
    `gpgkey=${file.url}/repodata/repomd.xml.key`,
    ...(file.exclude === undefined ? [] : [`exclude=${file.exclude.join(' ')}`]),
  ]
  await machine.writeFile(`/etc/yum.repos.d/${file.name}.repo`, `${lines.join('\n')}\n`)
}
