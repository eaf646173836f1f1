// The base of every image: the Debian root as a bootable ostree commit, and that as an OCI image, in an OCI layout.

import { copyFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { cachedFolder } from '../cache-folder.ts'
import { inRoot } from '../closed-root.ts'
import { contentKey } from '../content-key.ts'
import { runProgram } from '../run-program.ts'
import { osFront } from './front.ts'
import { osLayers } from './os-root.ts'

/** The kernel the base brings; a version's own layer takes its place. */
export const baseKernel = '6.1.0-base'

// Runs inside the root it copies; /os is the folder of the result. What is turned into links is what an ostree system has
// as links: everything that may be written lies in /var.
const commitRoot = `set -eu
cp -ax / /os/tree; cd /os/tree
rm -rf os var/* dev/* proc/* sys/* run/* tmp/* boot/* root home srv mnt opt usr/local etc/hostname etc/machine-id etc/resolv.conf
rm -rf usr/share/doc usr/share/man usr/share/locale
mv etc usr/etc; : > usr/etc/machine-id
mkdir sysroot; ln -s sysroot/ostree ostree
for d in home srv mnt opt; do ln -s var/$d $d; done; ln -s var/roothome root; ln -s ../var/usrlocal usr/local
printf 'd /var/%s\\n' 'roothome 0700 root root -' 'home 0755 root root -' 'opt 0755 root root -' 'log 0755 root root -' \\
  'lib 0755 root root -' 'cache 0755 root root -' 'tmp 1777 root root -' > usr/lib/tmpfiles.d/bed.conf
install -m 755 /os/osimage usr/bin/ostree-ext; ln usr/bin/ostree-ext usr/bin/rpm-ostree; ln usr/bin/ostree-ext usr/bin/bootc
units=usr/lib/systemd/system; mkdir -p $units/multi-user.target.wants $units/sysinit.target.wants
# What a generator does where the kernel command line has ostree=: finish a staged deployment at shutdown.
ln -s ../ostree-finalize-staged.service $units/multi-user.target.wants/ostree-finalize-staged.service
# The boot entry's options as the kernel command line: nspawn itself cannot bind below /proc.
printf '%s\\n' '[Unit]' DefaultDependencies=no Before=sysinit.target ConditionPathExists=/run/bed-cmdline \\
  '[Service]' Type=oneshot RemainAfterExit=yes 'ExecStart=mount --bind /run/bed-cmdline /proc/cmdline' > $units/bed-cmdline.service
ln -s ../bed-cmdline.service $units/sysinit.target.wants/bed-cmdline.service
# No kernel is run, but ostree and the boot entries need one.
mkdir -p "usr/lib/modules/$1"; echo kernel > "usr/lib/modules/$1/vmlinuz"; echo initramfs > "usr/lib/modules/$1/initramfs.img"
ostree --repo=/os/repo init --mode=bare
ostree --repo=/os/repo commit -b bedos/base --bootable --add-metadata-string=version=base --tree=dir=/os/tree
/os/osimage container encapsulate --repo=/os/repo bedos/base oci:/os/layout:base`

/** The folder of the OCI layout; with further packages of Debian's, if named. Half a minute the first time. */
export async function osBaseImage(more: readonly string[] = []): Promise<string> {
  const layers = await osLayers(more)
  const front = await osFront()
  const key = contentKey(...layers, front, commitRoot, baseKernel)
  const folder = await cachedFolder(`os-base-image-${key}`, async (fresh) => {
    await copyFile(front, join(fresh, 'osimage'))
    await runProgram(
      ...inRoot({ layers, binds: { '/os': fresh } }, ['sh', '-c', commitRoot, basename(fresh), baseKernel]),
    )
    for (const scratch of ['osimage', 'tree', 'repo']) await rm(join(fresh, scratch), { recursive: true, force: true })
  })
  return join(folder, 'layout')
}
