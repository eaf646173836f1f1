/**
 * Debian's docker: a root that has it, and a repository with that package and a newer one. Debian has one version at a time, so
 * the newer one is the same again, under a later number that its daemon gives as well.
 */

import { cp, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { baseRoot } from './base-root.ts'
import { cachedFolder } from './cache-folder.ts'
import { contentKey } from './content-key.ts'
import { debianLayer } from './debian-root.ts'
import { makeRepository } from './package-repository.ts'
import { signingKey } from './signing-key.ts'

// Machines have no bridges of their own to filter, and an overlay cannot lie on one.
const settings = '{"storage-driver": "vfs", "bridge": "none", "iptables": false, "live-restore": true}'

// As many letters as before: the text lies inside of the program. `aptget` comes with the layer.
const offerNewer = `mkdir -p /etc/docker /opt/docker && cd /opt/docker
printf '%s\\n' '${settings}' > /etc/docker/daemon.json
aptget download docker.io
dpkg-deb --raw-extract docker.io_*.deb tree
version=$(dpkg-query --show --showformat='\${Version}' docker.io)
upstream=\${version%%[!0-9.]*}
case $upstream in *9) newer=\${upstream%?}8 ;; *) newer=\${upstream%?}9 ;; esac
sed -i "s/$upstream/$newer/g" tree/usr/sbin/dockerd
sed -i "s/^Version: .*/&+newer/" tree/DEBIAN/control
rm tree/DEBIAN/md5sums
dpkg-deb -Zgzip -z1 --build tree .
rm -r tree`

/** For `bed.machine`, the uppermost first. */
export async function dockerLayers(): Promise<readonly string[]> {
  const base = await baseRoot()
  return [await debianLayer(base, ['docker.io'], offerNewer), base]
}

/** To be served by a bed. */
export async function dockerRepository(): Promise<string> {
  const [layer = ''] = await dockerLayers()
  const key = contentKey(basename(dirname(layer)), await readFile((await signingKey('trusted')).keyringPath))
  return cachedFolder(`apt-docker-${key}`, async (folder) => {
    await cp(join(layer, 'opt/docker'), folder, { recursive: true })
    await makeRepository(folder, [])
  })
}
