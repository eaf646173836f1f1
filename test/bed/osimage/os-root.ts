// The Debian systems behind the images: what an image holds, and the root with the tools that make and serve images.

import { debianLayer, debianRoot } from '../debian-root.ts'

const imagePackages = [
  ...['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'iputils-ping', 'ca-certificates', 'procps', 'kmod', 'curl'],
  ...['netbase', 'jq', 'ostree', 'ostree-boot'],
]

/** What every image holds. */
export function osRoot(): Promise<string> {
  return debianRoot('trixie', imagePackages)
}

/** skopeo belongs into the image too, but its virtual dependency is beyond debootstrap. */
export async function osLayers(more: readonly string[] = []): Promise<readonly string[]> {
  const root = await osRoot()
  return [await debianLayer(root, ['skopeo', ...more]), root]
}
