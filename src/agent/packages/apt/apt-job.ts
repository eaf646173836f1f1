// The one job that carries an apt transaction out, and the plan it follows: small lists in the staging folder, so that a
// transaction of a thousand packages needs no long command line.

import type { StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { syncWritten } from '../sync-written.ts'
import { aptFolder } from './apt-folder.ts'

/**
 * $1 the staging folder, $2 seconds to wait for the lock.
 *
 * - `dpkg --configure -a` finishes what was unpacked, and tells by failing that another has the lock.
 * - A package that was cut off while its files were unpacked is not repaired by it, nor by apt if the version is the same:
 *   dpkg unpacks its file again.
 * - dpkg forgets a hold when it installs: holds are set again however this ends.
 * - With force-unsafe-io dpkg notes a package as installed before its files are on the disk, and nothing looks at them again: they
 *   are synced however this ends. The file `began` is there from before the first change until that was done. A second start that
 *   finds it was cut off: what counts as installed by then is unpacked again. What has another version is left to apt, which knows
 *   the order.
 */
const aptJobScript = `${syncWritten}
folder=$1 patience=$2 waited=0 fresh= cut_off= ended= again=0
cd "$folder/plan" || exit 1

configure() {
  until said=$(dpkg --force-confdef --force-confold --configure -a 2>&1); do
    case $said in *'locked by another process'*) ;; *) break ;; esac
    pid=\${said##*pid }
    pid=\${pid%%[!0-9]*}
    echo "waiting: the package manager is in use by process $pid ($(cat "/proc/\${pid:-none}/comm" 2>/dev/null))"
    [ "$waited" -lt "$patience" ] || { [ -z "$fresh" ] || rm -f began; exit 75; }
    sleep 3
    waited=$((waited + 3))
  done
  [ -z "$said" ] || printf '%s\\n' "$said"
}

state() {
  dpkg-query --show --showformat '\${db:Status-Status} \${db:Status-Eflag}' "$1" 2>/dev/null
}

is_of() {
  [ "$(dpkg-query --show --showformat '\${Version}' "$1")" = "$(dpkg-deb --show --showformat '\${Version}' "$2")" ]
}

unpack() {
  [ "$#" = 0 ] || dpkg --force-confdef --force-confold --force-downgrade --unpack "$@"
}

conclude() {
  xargs -r apt-mark -c "$folder/offline.conf" unhold <unheld
  xargs -r apt-mark -c "$folder/offline.conf" hold <held
  sync_written
  [ -z "$ended" ] || { rm -f began; sync -f .; }
}

if [ -e began ]; then
  cut_off=yes
elif [ -s packages ]; then
  fresh=yes
  : >began
  sync -f .
fi
configure
fresh=
[ ! -s files.sha256 ] || sha256sum --quiet --check files.sha256 || exit 1
trap conclude EXIT

set --
while read -r name file; do
  case $(state "$name") in
    'installed ok' | 'config-files ok' | 'not-installed ok' | '') ;;
    *) set -- "$@" "$file" ;;
  esac
done <packages
unpack "$@"

if [ -n "$cut_off" ]; then
  set --
  while read -r name file; do
    [ "$(state "$name")" != 'installed ok' ] || ! is_of "$name" "$file" || set -- "$@" "$file"
  done <packages
  unpack "$@" || again=$?
fi

set --
while read -r name file; do set -- "$@" "$file"; done <packages
[ -s removals ] || set -- --no-remove "$@"
while read -r name; do
  case $(state "$name") in
    'config-files ok' | 'not-installed ok' | '') ;;
    *) set -- "$@" "$name-" ;;
  esac
done <removals
apt-get -c "$folder/offline.conf" install "$@" </dev/null
code=$?
configure
[ "$again" != 0 ] || ended=yes
[ "$code" != 0 ] || code=$again
[ "$code" = 0 ] || exit "$code"
xargs -r apt-mark -c "$folder/offline.conf" auto <automatic
xargs -r dpkg --purge <purges
`

const patienceSeconds = 900
const planFile = { mode: 0o600, owner: 'root', group: 'root' }

export function aptJobArgv({ folder }: StagedPackages): readonly string[] {
  return ['/bin/sh', '-c', aptJobScript, 'slipway-packages', folder, String(patienceSeconds)]
}

/** Whether a job of this plan was cut off, so that what it installed may not be on the disk. */
export async function isUnfinished(host: Host, { folder }: StagedPackages): Promise<boolean> {
  return (await host.files.look(`${aptFolder(folder).plan}/began`)).kind !== 'none'
}

/** Written before the staging counts as done, and synced with the files it names. */
export async function writeAptPlan(host: Host, staged: StagedPackages, signal: AbortSignal): Promise<void> {
  const { plan } = aptFolder(staged.folder)
  const files = staged.packages.flatMap(({ name, file, sha256 }) => (file && sha256 ? [{ name, file, sha256 }] : []))
  const named = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
  const lists: Readonly<Record<string, readonly string[]>> = {
    packages: files.map(({ name, file }) => `${name} ${file}`),
    'files.sha256': files.map(({ file, sha256 }) => `${sha256}  ${file}`),
    removals: named(staged.removals),
    purges: named(staged.removals.filter(({ purge }) => purge)),
    held: named(staged.packages.filter(({ held }) => held)),
    unheld: named(staged.packages.filter(({ held }) => !held)),
    automatic: named(staged.packages.filter(({ automatic, file }) => automatic && file !== undefined)),
  }
  for (const [name, lines] of Object.entries(lists)) {
    await host.files.write(`${plan}/${name}`, lines.map((line) => `${line}\n`).join(''), planFile)
  }
  await host.run({ argv: ['sync', '-f', staged.folder], timeoutMs: 300_000 }, signal)
}
