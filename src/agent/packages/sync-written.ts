// What a transaction wrote must be on the disk before its step counts as done. A bare `sync` waits for every file system that is
// mounted, and for ever beside one whose server is gone, on a node that is drained already.

/** A function of the shell, called after all else: those that packages write to, each by itself where it is a mount of its own. */
export const syncWritten = `
sync_written() {
  for place in / /boot /boot/efi /etc /opt /usr /var /var/lib; do
    [ ! -d "$place" ] || sync -f "$place" || echo "$place could not be synced"
  done
}
`
