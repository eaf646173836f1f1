// Stays on the host while a new image is on trial: a kubelet that does not start cannot start the agent's pod either. Constant:
// what differs comes as positional arguments.

export const guardFolder = '/var/lib/slipway/boot-guard'

/**
 * `watch ENGINE OLD SECONDS UNIT`: in any deployment but OLD (checksum.serial), goes back unless the file `armed` is gone in time.
 * A kubelet that has failed for half a minute is not waited for. `return ENGINE`: goes back now.
 *
 * Who takes `armed` away has the last word on the image: the script by renaming it, the agent by deleting it. One that cannot be
 * renamed can as little be deleted: then the guard goes back as it is.
 *
 * The tools turn the boot order around, so doing it twice would undo it: the folder in /run, new with each boot, lets one do it
 * once. Cut off between its making and the roll-back, the reboot leads into the new image again: `returning` says that nothing is to be
 * waited for there, and is `returned` once the roll-back has landed. A boot loader that starts the new image all the same is no
 * business of the guard, which would boot for ever.
 */
export const guardScript = `
folder=${guardFolder} lock=/run/slipway-boot-return
mode=$1 engine=$2 old=$3 seconds=$4 unit=$5

roll_back() {
  case $engine in
    rpm-ostree) rpm-ostree cleanup --pending && rpm-ostree rollback ;;
    bootc) bootc rollback ;;
    ostree) ostree admin set-default 1 ;;
    *) echo "unknown image tool $engine"; return 1 ;;
  esac
}

go_back() {
  if mkdir "$lock" 2>/dev/null; then
    roll_back || { rmdir "$lock"; return 1; }
    if [ -e "$folder/returning" ]; then
      mv -f "$folder/returning" "$folder/returned"
      sync
    fi
  fi
  systemctl reboot
}

claim() {
  mv -f "$folder/armed" "$folder/returning" 2>/dev/null || return 1
  sync
  return 0
}

if [ "$mode" = return ]; then
  claim
  go_back
  exit
fi
booted=$(ostree admin status | sed -n 's/^\\* [^ ]* \\([0-9a-f]*\\.[0-9]*\\).*/\\1/p')
[ -n "$booted" ] || { echo 'cannot tell which deployment is booted'; exit 1; }
[ "$booted" != "$old" ] || exit 0
left=$seconds ill=0
while [ ! -e "$folder/returning" ] && [ "$left" -gt 0 ] && [ "$ill" -lt 6 ]; do
  [ -e "$folder/armed" ] || exit 0
  if [ -n "$unit" ] && systemctl is-failed --quiet "$unit"; then ill=$((ill + 1)); else ill=0; fi
  sleep 5
  left=$((left - 5))
done
[ -e "$folder/returning" ] || claim || [ -e "$folder/armed" ] || exit 0
echo 'the new image was not confirmed in time; going back to the previous one'
until go_back; do sleep 10; done
`
