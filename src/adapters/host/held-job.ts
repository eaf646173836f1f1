// The shell text around every job. Constant: what differs comes as positional arguments, so nothing is ever quoted or joined.

/**
 * The job writes into a pipe of its own, not into one that ends with the agent. Made with the log while it is held: where the disk
 * has no room for them nothing is run.
 */
const makeOutput = `
pipe=$result.pipe
rm -f "$pipe"
mkfifo -m 600 "$pipe" && : >>"$log" || exit 0
`

/** Waits for the line `go` on standard input; when the agent dies before, the input ends and nothing is run. */
const waitForInput = `
read -r word || exit 0
[ "$word" = go ] || exit 0
exec </dev/null
`

/**
 * The same over a pipe with a name, which the agent holds open from its start on: a unit has no standard input of ours. Should
 * the agent die before it opened the pipe, the wait ends by itself.
 */
const waitForPipe = `
gate=$result.go
rm -f "$gate"
mkfifo -m 600 "$gate" || exit 0
word=$(timeout 600 head -n 1 "$gate")
rm -f "$gate"
[ "$word" = go ] || exit 0
`

/** Between the beginning of a log and its end, where the job printed more than is kept. */
export const leftOut = '\n[slipway: what the job printed here is left out; the last of it follows]\n'
/** Of the end, beside the `logBytes` of the beginning. */
export const keptTailBytes = 64 * 1024

/** The unit in which the shell counts the beginning of a log. */
const blockBytes = 512
/** So much is read before the log is looked at. Read less at a time it is no more: the reader waits for nothing to fill. */
const readBytes = 8192
const reads = 512

/**
 * - The mark that it was never let run goes before the first of it runs: removing needs no room on the disk.
 * - The reader of the pipe alone keeps the log within bounds: its beginning, and of what comes then the last. The middle is cut
 *   out whenever the log is some MiB too long, so that who reads it meanwhile finds the last lines, too. The cut writes the end
 *   over the middle before it shortens the file: wherever it stops, the last lines are at the end. Lost power may take what was not on the disk yet; then the job is run again.
 *   Where the disk is full what comes is read and dropped: the job is neither killed nor held up. The reader writes what it
 *   reads at once, so that the log of a job that is killed is there. A daemon the job leaves behind keeps the reader, not this
 *   shell.
 * - Only the job itself writes into the pipe: a shell that runs a program with its output turned there also says there that it was
 *   terminated.
 * - Stays until the job has ended also when it is told to terminate, so that as long as the job runs, this does. What was cut
 *   short that way leaves no result: at a shutdown it has not failed, it is run again after the boot.
 * - The exit code is written over what was reserved for it, so that a full disk does not lose it, and synced (`sync FILE` where the
 *   tool knows it, else all) before it gets its name: it is there whole or not at all. Where the disk does not take it all the same,
 *   as one that never writes over anything, it is written again and again; that the pipe is gone says that the job has ended.
 */
const runToEnd = `
rm -f "$result.held" || exit 0
told=
trap 'told=yes' TERM
(
  trap '' TERM
  exec <"$pipe" >>"$log" 2>/dev/null
  left='${leftOut}'
  most=$((limit * ${blockBytes} + \${#left} + ${keptTailBytes}))
  shorten() {
    { printf %s "$left" && tail -c ${keptTailBytes} "$log"; } >"$log.end" &&
      dd bs=${blockBytes} seek="$limit" conv=notrunc of="$log" <"$log.end" &&
      dd bs=1 seek="$most" count=0 of="$log" </dev/null
    rm -f "$log.end"
    size=$(wc -c <"$log") && [ "$size" -le "$most" ]
  }
  size=0
  while dd bs=${readBytes} count=${reads} && now=$(wc -c <"$log") && [ "$now" -gt "$size" ]; do
    size=$now
    [ "$size" -le $((most + ${readBytes * reads})) ] || shorten || break
  done
  [ "$size" -le "$most" ] || shorten
  exec cat >/dev/null
) &
reader=$!
(exec "$@") >"$pipe" 2>&1
code=$?
rm -f "$pipe"
tries=0
while kill -0 "$reader" 2>/dev/null && [ "$tries" -lt 100 ]; do
  sleep 0.01 2>/dev/null || sleep 1
  tries=$((tries + 1))
done
[ -z "$told" ] || [ "$code" = 0 ] || exit 0
folder=\${result%/*}
until
  printf '%03d\\n' "$code" 1<>"$result.tmp" &&
    { sync "$result.tmp" 2>/dev/null || sync; } &&
    mv -f "$result.tmp" "$result"
do
  [ -d "$folder" ] || exit 0
  sleep 1
done
sync "$folder" 2>/dev/null || sync
`

const takeArguments = `
result=$1 log=$2 limit=$3
shift 3
`

/** $1 result file, $2 log file, $3 blocks of the beginning of the log, then the job's argv; released on standard input. */
export const heldJobScript = takeArguments + makeOutput + waitForInput + runToEnd

/** The same; released through the named pipe beside the result file. */
export const heldUnitScript = takeArguments + makeOutput + waitForPipe + runToEnd

/** As long as the exit code that will be written over it. */
export const reservedText = '---\n'

/** What is reserved for the exit code; made before the job is started. */
export function reservedPath(resultPath: string): string {
  return `${resultPath}.tmp`
}

/** There from before the job is started until it is let run. */
export function heldPath(resultPath: string): string {
  return `${resultPath}.held`
}

/** What the job prints into; there until it has ended. */
export function outputPath(resultPath: string): string {
  return `${resultPath}.pipe`
}

/** The pipe of a held unit. */
export function gatePath(resultPath: string): string {
  return `${resultPath}.go`
}

export function jobArguments(job: {
  readonly resultPath: string
  readonly logPath: string
  readonly logBytes: number
  readonly argv: readonly string[]
}): readonly string[] {
  return [job.resultPath, job.logPath, String(Math.ceil(job.logBytes / blockBytes)), ...job.argv]
}
