// A command in a root folder of its own. Its mounts and processes live in namespaces that end with it, so that nothing is
// left behind, also when it or this process is killed.

export interface ClosedRoot {
  /** Folders laid over each other, the top one first. */
  readonly layers: readonly string[]
  /** Keeps what is written: a folder with `upper` and `work`. Without it the writes are forgotten. */
  readonly writes?: string
  /** Folders and files of this machine, by their path in the root. */
  readonly binds?: Readonly<Record<string, string>>
}

// $1 lower folders, $2 folder for the writes or nothing, then pairs of source and target up to `--`, then the command.
const enterRoot = `set -eu
lower=$1 writes=$2; shift 2
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o "lowerdir=$lower,upperdir=\${writes:-/mnt}/upper,workdir=\${writes:-/mnt}/work" /mnt/root
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "/mnt/root$2"; else mkdir -p "/mnt/root\${2%/*}"; [ -e "/mnt/root$2" ] || : > "/mnt/root$2"; fi
  mount --rbind "$1" "/mnt/root$2"
  shift 2
done
shift
mount --rbind /dev /mnt/root/dev
mount -t proc proc /mnt/root/proc
exec chroot /mnt/root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"`

/** The command line that runs `argv` inside: to be started as it is. */
export function inRoot(root: ClosedRoot, argv: readonly string[]): [program: string, args: string[]] {
  const binds = Object.entries({ '/etc/resolv.conf': '/etc/resolv.conf', ...root.binds })
  return closed([
    'sh',
    '-c',
    enterRoot,
    'enter-root',
    root.layers.join(':'),
    root.writes ?? '',
    ...binds.flatMap(([target, source]) => [source, target]),
    '--',
    ...argv,
  ])
}

/** The same namespaces around a command that makes its own root (debootstrap mounts things in it). */
export function closed(argv: readonly string[]): [program: string, args: string[]] {
  return ['setpriv', ['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child=KILL', ...argv]]
}
