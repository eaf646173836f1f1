/**
 * A host's ostree repository, the engine and a registry without a machine around them: what can be said of images without booting
 * them takes seconds so. Images here are one small ostree commit each, signed with GPG or not.
 *
 *   await using desk = await openCommitDesk()
 *   const { layout } = await desk.commit('good', 'trusted')
 *   const image = await desk.push('good', await relabelled(layout))
 *   desk.fetch(image)
 */

import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Command, CommandResult } from '../../../src/ports/host.ts'
import { inRoot } from '../closed-root.ts'
import { type Signer, signingKey } from '../signing-key.ts'
import { openOnSlot, type SlotLife } from '../slot-life.ts'
import { osFront } from './front.ts'
import type { OciImage } from './oci-image.ts'
import { osLayers } from './os-root.ts'
import { registryAt, startRegistry } from './registry.ts'

export interface Commit {
  readonly checksum: string
  /** Its image, as an OCI layout. */
  readonly layout: string
}

export interface CommitDesk extends AsyncDisposable {
  /** The registry, as references begin. */
  readonly registry: string
  /** Runs it as on a host: /ostree/repo is the host's, and what is written stays. */
  run(command: Command): CommandResult
  commit(name: string, signer: Signer | undefined): Promise<Commit>
  /** The image's name and digest. */
  push(tag: string, image: OciImage): Promise<{ readonly name: string; readonly instance: string }>
  /** As the engine of every tool does it. */
  fetch(image: { readonly name: string; readonly instance: string }): void
}

// $1 the name, $2 a folder with a secret key or nothing.
const makeCommit = `set -eu
cd /desk; mkdir -p "tree/usr/share" gpg; chmod 700 gpg; echo "$1" > tree/usr/share/version
[ -d commits ] || ostree --repo=commits init --mode=bare
ostree --repo=commits commit -b "$1" --tree=dir=tree > "$1.commit"
if [ -n "$2" ]; then
  gpg --homedir gpg --batch --quiet --import "$2"
  id=$(gpg --homedir gpg --batch --with-colons --show-keys "$2" | sed -n 's/^fpr:*\\([0-9A-F]*\\):$/\\1/p' | head -1)
  ostree --repo=commits gpg-sign --gpg-homedir=gpg "$1" "$id"
fi
/front/osimage container encapsulate --repo=commits "$1" "oci:/desk/$1.layout:$1"`

export function openCommitDesk(): Promise<CommitDesk> {
  return openOnSlot(openDesk)
}

export async function openDesk({ slot, end }: SlotLife): Promise<CommitDesk> {
  const { folder } = slot
  for (const name of ['desk', 'repo', 'upper', 'work']) await mkdir(join(folder, name))
  // No machine is to see the registry: no bridge is needed.
  const address = `127.0.77.${slot.number}`
  const settings = join(folder, 'registries.conf')
  await writeFile(settings, `[[registry]]\nlocation = "${registryAt(address)}"\ninsecure = true\n`)
  const layers = await osLayers()
  const binds = {
    '/desk': join(folder, 'desk'),
    '/ostree/repo': join(folder, 'repo'),
    '/sysroot/ostree/repo': join(folder, 'repo'),
    '/front': dirname(await osFront()),
    '/keys/trusted': dirname((await signingKey('trusted')).secretPath),
    '/keys/stranger': dirname((await signingKey('stranger')).secretPath),
    '/etc/containers/registries.conf.d/bed.conf': settings,
  }
  const run = ({ argv, input = '' }: Command): CommandResult => {
    const [program, args] = inRoot({ layers, writes: folder, binds }, argv)
    const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
    return { exitCode: status ?? 128, stdout, stderr }
  }
  const must = (...argv: readonly string[]) => {
    const { exitCode, stderr } = run({ argv })
    if (exitCode !== 0) throw new Error(`${argv.slice(0, 4).join(' ')} ended with ${exitCode}: ${stderr}`)
  }
  must('ostree', 'init', '--repo=/ostree/repo', '--mode=bare')
  const registry = await startRegistry({ address, slot })
  return {
    registry: registry.address,
    run,
    commit: async (name, signer) => {
      const key = signer === undefined ? '' : `/keys/${signer}/secret.gpg`
      must('sh', '-c', makeCommit, 'make-commit', name, key)
      const checksum = (await readFile(join(folder, 'desk', `${name}.commit`), 'utf8')).trim()
      return { checksum, layout: join(folder, 'desk', `${name}.layout`) }
    },
    push: async (tag, image) => {
      await registry.push('commits', tag, image)
      return { name: `${registry.address}/commits`, instance: image.digest }
    },
    fetch: ({ name, instance }) => {
      const reference = `ostree-unverified-registry:${name}@${instance}`
      must('/front/osimage', 'container', 'image', 'pull', '/ostree/repo', reference)
    },
    [Symbol.asyncDispose]: async () => {
      await registry.stop()
      end()
    },
  }
}
