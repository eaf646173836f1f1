// The shell text around every job. Constant: what differs comes as positional arguments, so nothing is ever quoted or joined.

/**
 * $1 result file, $2 log file, $3 most blocks of 512 bytes of log, then the job's argv.
 *
 * - Waits for the line `go`; when the agent dies before, standard input ends and nothing is run.
 * - The job writes into a pipe of its own, not into one that ends with the agent. The reader alone has a limit on the size of
 *   its file; what exceeds it, or finds the disk full, is read and dropped: the job is neither killed nor held up. The reader
 *   writes what it reads at once, so that the log of a job that is killed is there. A daemon the job leaves behind keeps the
 *   reader, not this shell.
 * - Stays until the job has ended also when the group is told to terminate, so that as long as the job runs, this does.
 * - The exit code is written whole or not at all, and synced (`sync FILE` where the tool knows it, else all).
 */
export const heldJobScript = `
result=$1 log=$2 limit=$3
shift 3
read -r word || exit 0
[ "$word" = go ] || exit 0
exec </dev/null
trap : TERM
pipe=$result.pipe
rm -f "$pipe"
mkfifo -m 600 "$pipe" || exit 0
(
  trap '' TERM XFSZ
  exec <"$pipe" >>"$log" 2>/dev/null
  (ulimit -f "$limit" && exec cat)
  exec cat >/dev/null
) &
reader=$!
"$@" >"$pipe" 2>&1
code=$?
rm -f "$pipe"
tries=0
while kill -0 "$reader" 2>/dev/null && [ "$tries" -lt 100 ]; do
  sleep 0.01 2>/dev/null || sleep 1
  tries=$((tries + 1))
done
printf '%s\\n' "$code" >"$result.tmp" || exit 0
sync "$result.tmp" 2>/dev/null || sync
mv -f "$result.tmp" "$result"
sync "\${result%/*}" 2>/dev/null || sync
`
