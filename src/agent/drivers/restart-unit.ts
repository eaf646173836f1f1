/**
 * $1 seconds a unit must run as one process to count as up, $2 seconds it has for that, then the units. A program that cannot
 * start is restarted by systemd again and again, and is `active` in between: one look does not tell.
 */
const restartProgram = `
enough=$1 limit=$2
shift 2
systemctl daemon-reload || exit 1
systemctl restart "$@" || { systemctl --no-pager status "$@"; exit 1; }
for unit in "$@"; do
  left=$limit calm=0 last=
  until [ "$calm" -ge "$enough" ]; do
    [ "$left" -gt 0 ] || {
      echo "$unit did not stay up for $enough seconds; its journal:"
      journalctl --no-pager --lines=30 --unit="$unit"
      exit 1
    }
    sleep 1
    left=$((left - 1))
    state=$(systemctl is-active "$unit")
    now=$(systemctl show --property=MainPID --value "$unit")
    if [ "$state" = active ] && [ "$now" = "$last" ]; then calm=$((calm + 1)); else calm=0; fi
    last=$now
  done
  echo "$unit is up"
done
`

export function restartArgv(units: readonly string[], enoughSeconds: number, limitSeconds: number): readonly string[] {
  return ['/bin/sh', '-c', restartProgram, 'restart-unit', String(enoughSeconds), String(limitSeconds), ...units]
}
