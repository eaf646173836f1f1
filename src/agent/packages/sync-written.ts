// What a transaction wrote must be on the disk before its step counts as done. A bare `sync` waits for every file system that is
// mounted, and for ever beside one whose server is gone, on a node that is drained already. So does the first look at such a mount:
// what a place is on is read from the table of mounts.

/**
 * A function of the shell, called after all else: those that packages write to, each by itself where it is a mount of its own. $1 is
 * the table of mounts, if not this process's own.
 *
 * - What a server holds is left out, but for the root: without its server none of this runs. An automount that has mounted nothing
 *   has nothing to write; else what it mounted is listed after it.
 * - A place may be a link, as /opt often is: what counts is where it leads.
 */
export const syncWritten = `
sync_written() {
  for place in / /boot /boot/efi /etc /opt /usr /var /var/lib; do
    sync_place "$place" "$1"
  done
}

sync_place() {
  is_remote "$1" "$2" && return
  [ ! -L "$1" ] || set -- "$(linked_from "$1")" "$2"
  is_remote "$1" "$2" || [ ! -d "$1" ] || sync -f "$1" || echo "$1 could not be synced"
}

linked_from() {
  case $(readlink "$1") in
    /*) readlink "$1" ;;
    *) echo "\${1%/*}/$(readlink "$1")" ;;
  esac
}

is_remote() {
  case $(mounted_at "$1" "\${2:-/proc/self/mountinfo}") in
    nfs | nfs4 | cifs | smb3 | smbfs | ceph | 9p | glusterfs | lustre | gpfs | beegfs | orangefs | afs | coda) ;;
    autofs | fuse | fuse.*) ;;
    *) return 1 ;;
  esac
}

mounted_at() {
  awk -v place="$1/" '
    { point = $5 == "/" ? "/" : $5 "/" }
    index(place, point) == 1 && length(point) >= length(longest) {
      longest = point
      for (field = 7; field < NF && $field != "-"; field++);
      type = $(field + 1)
    }
    END { if (longest != "/") print type }
  ' "$2"
}
`
