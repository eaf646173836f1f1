// The log of what the agent does on the host itself, where a program's output would stand: each command with its complaints, each file
// that was changed. Never what a command reads or was asked for, nor what a file holds: there are secrets in it, and looks that are
// repeated would drown the rest. No command line has any.

import type { CommandResult, Host } from '../../ports/host.ts'
import type { OrderFolder } from '../journal/order-folder.ts'

/** Of one output; what only lists what there is would fill the log. */
const outputBytes = 16 * 1024
const wordLength = 512
/** Of the log: its beginning, and its end. */
const [headLength, tailLength] = [224 * 1024, 64 * 1024]
/** So much it grows beyond before it is cut: who follows it sees by its length alone that there is more, or that it was cut. */
const slackLength = 32 * 1024
const leftOut = '\n[slipway: what was done here is left out; the last of it follows]\n'

/** The host, as it tells of what is done to it in the log of that start of a step. */
export function toldHost(host: Host, folder: OrderFolder, index: number, start: number): Host {
  const log = new ActLog(host, folder, folder.pathsOf(index, start).log)
  const { files } = host
  return {
    disk: host.disk,
    files: {
      look: (path) => files.look(path),
      read: (path, maxBytes) => files.read(path, maxBytes),
      sha256: (path) => files.sha256(path),
      write: async (path, content, attributes) => {
        const { mode, owner, group } = attributes
        await log.add(`write ${path} (${mode.toString(8).padStart(4, '0')} ${owner}:${group})\n`)
        await files.write(path, content, attributes)
      },
      rename: async (from, to) => {
        await log.add(`move ${from} to ${to}\n`)
        await files.rename(from, to)
      },
      remove: async (path) => {
        await log.add(`remove ${path}\n`)
        await files.remove(path)
      },
      names: (path) => files.names(path),
      freeBytes: (path) => files.freeBytes(path),
      watch: (paths, onChange, signal) => files.watch(paths, onChange, signal),
    },
    bootId: () => host.bootId(),
    uptimeMs: () => host.uptimeMs(),
    facts: (signal) => host.facts(signal),
    run: async (command, signal) => {
      await log.add(`$ ${command.argv.map(quoted).join(' ')}\n`)
      try {
        const result = await host.run(command, signal)
        // Some print what they read, and what goes well was asked for its answer.
        const isAnswer = result.exitCode === 0 || command.input !== undefined
        await log.add(said(isAnswer ? { ...result, stdout: '' } : result))
        return result
      } catch (error) {
        if (!signal.aborted) await log.add(`[${error instanceof Error ? error.message : String(error)}]\n`)
        throw error
      }
    },
    reboot: async (signal) => {
      await log.add('boot the machine anew\n')
      await host.reboot(signal)
    },
    hold: (job, signal) => host.hold(job, signal),
    look: (process, resultPath) => host.look(process, resultPath),
    ended: (process, signal) => host.ended(process, signal),
    end: (process, graceMs, signal) => host.end(process, graceMs, signal),
  }
}

/** Written as it grows, so that a step that hangs, or takes the agent down, shows where. */
class ActLog {
  readonly #disk: Host['disk']
  readonly #folder: OrderFolder
  readonly #path: string
  #text = ''

  constructor({ disk }: Host, folder: OrderFolder, path: string) {
    this.#disk = disk
    this.#folder = folder
    this.#path = path
  }

  async add(text: string): Promise<void> {
    const isFirst = this.#text === ''
    this.#text = bounded(this.#text + text)
    try {
      if (isFirst) await this.#folder.makeLogFolder()
      await this.#disk.write(this.#path, this.#text, 0o600)
    } catch {
      // The work is not held up by its log; a disk that matters is told of by the journal.
    }
  }
}

function bounded(text: string): string {
  if (text.length <= headLength + leftOut.length + tailLength + slackLength) return text
  return `${text.slice(0, headLength)}${leftOut}${text.slice(-tailLength)}`
}

function said({ exitCode, stdout, stderr }: CommandResult): string {
  return `${end(stdout)}${end(stderr)}${exitCode === 0 ? '' : `[exit code ${exitCode}]\n`}`
}

function end(output: string): string {
  const text = output.length > outputBytes ? `[…]${output.slice(-outputBytes)}` : output
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** For people to read, as they would have to write it in a shell. */
function quoted(word: string): string {
  const text = word.length > wordLength ? `${word.slice(0, wordLength)}…` : word
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
