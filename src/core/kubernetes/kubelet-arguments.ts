// The environment files a kubelet's unit reads, as kubeadm writes them: KUBELET_KUBEADM_ARGS="--a=b --c d".

import type { Version } from '../version.ts'
import { type RemovedFlag, removedKubeletFlags } from './removed-kubelet-flags.ts'

export interface CleanedArguments {
  /** The file without those flags; the very same text where there were none. */
  readonly text: string
  /** The flags that were taken out, as they are typed. */
  readonly removed: readonly string[]
}

/** Takes out what the target version no longer knows; all else stays as it is, comments and other variables included. */
export function withoutRemovedFlags(text: string, target: Pick<Version, 'major' | 'minor'>): CleanedArguments {
  const gone = goneFor(target)
  const cleaned = text.split('\n').map((line) => cleanLine(line, gone))
  return {
    text: cleaned.map(({ line }) => line).join('\n'),
    removed: [...new Set(cleaned.flatMap(({ removed }) => removed))],
  }
}

/** The removed flags that a file of any kind still names; comments do not count. */
export function removedFlagsIn(text: string, target: Pick<Version, 'major' | 'minor'>): readonly string[] {
  const lines = text.split('\n').filter((line) => !/^\s*[#;]/.test(line))
  const words = new Set(lines.flatMap((line) => line.split(/[\s"'=]+/)))
  return goneFor(target).flatMap(({ name }) => (words.has(`--${name}`) ? [`--${name}`] : []))
}

/** The value of the flag in the file's last assignment of it; undefined where it is not set. */
export function kubeletArgument(text: string, name: string): string | undefined {
  const words = text.split('\n').flatMap((line) => assignment(line)?.words ?? [])
  const at = words.findLastIndex((word) => flagName(word) === name)
  const word = words[at]
  if (word === undefined) return undefined
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : words[at + 1]
}

function goneFor({ major, minor }: Pick<Version, 'major' | 'minor'>): readonly RemovedFlag[] {
  return removedKubeletFlags.filter((flag) => major > 1 || flag.minor <= minor)
}

interface Assignment {
  readonly start: string
  readonly quote: string
  readonly words: readonly string[]
}

function assignment(line: string): Assignment | undefined {
  const parts = /^(\s*(?:export\s+)?KUBELET_[A-Z_]+=)(["']?)(.*?)\2\s*$/.exec(line)
  if (!parts) return undefined
  const [, start = '', quote = '', value = ''] = parts
  return { start, quote, words: value.split(/\s+/).filter((word) => word !== '') }
}

function cleanLine(
  line: string,
  gone: readonly RemovedFlag[],
): { readonly line: string; readonly removed: readonly string[] } {
  const found = assignment(line)
  if (!found) return { line, removed: [] }
  const { start, quote, words } = found
  const kept: string[] = []
  const removed: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const flag = gone.find(({ name }) => name === flagName(word))
    if (!flag) {
      kept.push(word)
      continue
    }
    removed.push(`--${flag.name}`)
    const hasOwnValue = word.includes('=') || flag.kind === 'switch'
    if (!hasOwnValue && words[at + 1]?.startsWith('-') === false) at += 1
  }
  return removed.length === 0 ? { line, removed } : { line: `${start}${quote}${kept.join(' ')}${quote}`, removed }
}

function flagName(word: string): string | undefined {
  return /^--?([a-z0-9-]+)(?:=|$)/.exec(word)?.[1]
}
