// The one job that carries a dnf transaction out, and the plan it follows.

import type { StagedPackages } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { syncWritten } from '../sync-written.ts'
import { dnfFolder } from './dnf-folder.ts'
import type { RpmStatus } from './rpm-status.ts'

/**
 * $1 dnf or yum, $2 the staging folder, $3 seconds to wait for the lock.
 *
 * - The file `began` is there from the start until all that a good end left is on the disk. A second start that finds it was cut off, or a scriptlet failed:
 *   then rpm installs every file again, which runs the scriptlets and removes what is there twice. Where a package is there twice
 *   before the first start, that one does so too. Kernels come beside those that are there: an upgrade would remove the one that
 *   runs. What needs what was solved for both parts together.
 * - dnf ends with 200 when another has its lock: nothing began then. rpm does not ask for that lock. Its file may be older than
 *   this boot, and its process another one by now.
 * - dnf ends well when a scriptlet fails: what it says counts.
 */
const dnfJobScript = `${syncWritten}
dnf=$1 folder=$2 patience=$3 waited=0 fresh=
cd "$folder/plan" || exit 1
[ ! -s files.sha256 ] || sha256sum --quiet --check files.sha256 || exit 1

holders() {
  grep -hs '^[0-9]' /var/lib/dnf/*.pid /var/cache/dnf/*.pid
}
wait_for() {
  echo "waiting: the package manager is in use by process $1 ($(cat "/proc/\${1:-none}/comm" 2>/dev/null))"
  [ "$waited" -lt "$patience" ] || { [ -z "$fresh" ] || rm -f began; exit 75; }
  sleep 3
  waited=$((waited + 3))
}
running() {
  for pid in $(holders); do
    case $(cat "/proc/$pid/comm" 2>/dev/null) in
      dnf* | yum* | python* | packagekitd) echo "$pid"; return ;;
    esac
  done
}
offline() {
  while :; do
    "$dnf" -y --disablerepo='*' --disableexcludes=all --disableplugin=versionlock --setopt=exit_on_lock=1 \\
      --setopt=localpkg_gpgcheck=0 --setopt=color=never "$@" >said 2>&1 </dev/null
    code=$?
    cat said
    [ "$code" = 200 ] || break
    wait_for "$(holders | head -n 1)"
  done
  [ "$code" = 0 ] || exit "$code"
  check
}

again() {
  while pid=$(running); [ -n "$pid" ]; do wait_for "$pid"; done
  rpm "$@" --oldpackage --replacepkgs --replacefiles >said 2>&1 </dev/null
  code=$?
  cat said
  [ "$code" = 0 ] || exit "$code"
  check
}

check() {
  if grep -Eq 'Error in [A-Z]+ scriptlet|scriptlet failed' said; then
    echo 'a scriptlet of a package failed'
    exit 1
  fi
}

set --
while read -r name; do
  rpm -q "$name" >/dev/null 2>&1 && set -- "$@" "$name"
done <removals
[ "$#" = 0 ] || offline --noautoremove remove "$@"

set --
while read -r file; do set -- "$@" "$file"; done <files
if [ "$#" != 0 ]; then
  repairs=
  if [ -e began ] || [ -s doubled ]; then repairs=yes; fi
  [ -e began ] || { fresh=yes; : >began; sync -f .; }
  if [ -z "$repairs" ]; then
    offline install "$@"
  elif [ ! -s beside ]; then
    again -U "$@"
  else
    set --
    while read -r file; do grep -Fqx -e "$file" beside || set -- "$@" "$file"; done <files
    [ "$#" = 0 ] || again -U --nodeps "$@"
    set --
    while read -r file; do set -- "$@" "$file"; done <beside
    again -i "$@"
  fi
fi

[ ! -s released ] || xargs "$dnf" -y -q --disablerepo='*' versionlock delete <released
[ ! -s held ] || xargs "$dnf" -y -q --disablerepo='*' versionlock add <held || exit 1
[ ! -s automatic ] || xargs "$dnf" -y -q --disablerepo='*' mark remove <automatic
sync_written
rm -f began said
sync -f .
`

const patienceSeconds = 900
const planFile = { mode: 0o600, owner: 'root', group: 'root' }

export function dnfJobArgv(program: string, { folder }: StagedPackages): readonly string[] {
  return ['/bin/sh', '-c', dnfJobScript, 'slipway-packages', program, folder, String(patienceSeconds)]
}

/** Whether a job of this plan was cut off, or a scriptlet failed in it. */
export async function isUnfinished(host: Host, { folder }: StagedPackages): Promise<boolean> {
  return (await host.files.look(`${dnfFolder(folder).plan}/began`)).kind !== 'none'
}

export async function writeDnfPlan(
  host: Host,
  staged: StagedPackages,
  before: RpmStatus,
  signal: AbortSignal,
): Promise<void> {
  const { plan } = dnfFolder(staged.folder)
  const files = staged.packages.flatMap(({ file, sha256, sideBySide }) =>
    file && sha256 ? [{ file, sha256, sideBySide }] : [],
  )
  const named = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
  const lists: Readonly<Record<string, readonly string[]>> = {
    files: files.map(({ file }) => file),
    'files.sha256': files.map(({ file, sha256 }) => `${sha256}  ${file}`),
    beside: files.filter(({ sideBySide }) => sideBySide).map(({ file }) => file),
    removals: staged.removals.map(({ name, only }) => only ?? name),
    held: named(staged.packages.filter(({ held }) => held)),
    doubled: named(staged.packages.filter(({ name, file }) => file && before.get(name)?.leftOver)),
    // A lock names a version: it is taken away before it is set anew.
    released: named(staged.packages.filter(({ name }) => before.get(name)?.held)),
    automatic: named(staged.packages.filter(({ automatic, file }) => automatic && file !== undefined)),
  }
  for (const [name, lines] of Object.entries(lists)) {
    await host.files.write(`${plan}/${name}`, lines.map((line) => `${line}\n`).join(''), planFile)
  }
  await host.run({ argv: ['sync', '-f', staged.folder], timeoutMs: 300_000 }, signal)
}
