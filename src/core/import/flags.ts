// The flags of a program in a container, from its command line and its environment, as a Go program reads them: `--flag=value`
// or `--flag value`, the command line before the environment.

import type { ForeignContainer, ForeignDaemonSet } from '../../api/foreign-daemon-set.ts'
import type { Remark } from './imported.ts'
import { shellWords } from './shell-words.ts'

export interface FlagForm {
  /** `KURED` where every flag may also be a variable such as KURED_REBOOT_DAYS. */
  readonly variables?: string
  /** Those that stand without a value. */
  readonly booleans: ReadonlySet<string>
  /** Those whose values must not be shown: addresses with a token in them. */
  readonly secrets: ReadonlySet<string>
}

export interface GivenFlag {
  readonly value: string
  /** As it was written, for a remark. */
  readonly shown: string
}

export interface Flags {
  readonly given: ReadonlyMap<string, readonly GivenFlag[]>
  readonly remarks: readonly Remark[]
}

/** The container that runs the program: by its image or its command, or the only one there is. */
export function containerOf(daemonSet: ForeignDaemonSet, program: string): ForeignContainer | undefined {
  const { containers } = daemonSet.spec.template.spec
  return containers.find((one) => isRunning(one, program)) ?? (containers.length === 1 ? containers[0] : undefined)
}

export function runsProgram({ spec }: ForeignDaemonSet, program: string): boolean {
  return spec.template.spec.containers.some((container) => isRunning(container, program))
}

function isRunning({ image = '', command }: ForeignContainer, program: string): boolean {
  return imageName(image) === program || (command ?? []).some((word) => word.split(/[/\s]/).includes(program))
}

function imageName(image: string): string {
  return (image.split('/').at(-1) ?? '').replace(/[:@].*$/, '')
}

export function readFlags(container: ForeignContainer, form: FlagForm): Flags {
  const remarks: Remark[] = []
  const given = new Map<string, GivenFlag[]>()
  const add = (name: string, flag: GivenFlag) => given.set(name, [...(given.get(name) ?? []), flag])
  const words = unwrapped([...(container.command ?? []), ...(container.args ?? [])], variablesOf(container))
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word === '--') break
    const [, name = '', , value] = /^--([A-Za-z][\w-]*)(=([\s\S]*))?$/.exec(word) ?? []
    if (name === '') continue
    const next = words[index + 1]
    if (value !== undefined) add(name, shown(name, value, form))
    else if (form.booleans.has(name)) add(name, { value: 'true', shown: `--${name}` })
    else if (next === undefined || next.startsWith('--')) {
      remarks.push({ kind: 'Unread', what: `--${name}`, text: 'it has no value' })
    } else {
      add(name, shown(name, next, form))
      index += 1
    }
  }
  for (const [name, flags] of fromVariables(container, form, remarks)) if (!given.has(name)) given.set(name, flags)
  return { given, remarks }
}

function shown(name: string, value: string, form: FlagForm): GivenFlag {
  return { value, shown: `--${name}=${speakable(name, value, form)}` }
}

/** Without tokens, nor the password in an address. */
function speakable(name: string, value: string, { secrets }: FlagForm): string {
  return secrets.has(name) ? '…' : value.replace(/\/\/[^/@\s]*@/g, '//…@')
}

/** `sh -c "exec kured --period=1h"`: what the shell is given counts as words of the command. */
function unwrapped(words: readonly string[], variables: ReadonlyMap<string, string>): readonly string[] {
  const expanded = words.map((word) => expand(word, variables))
  const shell = expanded.findIndex(
    (word, index) => /(^|\/)(ba|da|a)?sh$/.test(word) && /^-\w*c$/.test(expanded[index + 1] ?? ''),
  )
  const line = shell === -1 ? undefined : expanded[shell + 2]
  return line === undefined ? expanded : (shellWords(line) ?? line.split(/\s+/))
}

/** `$(NAME)` is replaced by the kubelet, `$$(NAME)` is not. */
function expand(word: string, variables: ReadonlyMap<string, string>): string {
  return word.replace(/(\$?)\$\((\w+)\)/g, (whole, mark: string, name: string) =>
    mark === '$' ? whole.slice(1) : (variables.get(name) ?? whole),
  )
}

function variablesOf({ env }: ForeignContainer): ReadonlyMap<string, string> {
  return new Map((env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])))
}

function fromVariables(
  { env, envFrom }: ForeignContainer,
  form: FlagForm,
  remarks: Remark[],
): ReadonlyMap<string, GivenFlag[]> {
  const found = new Map<string, GivenFlag[]>()
  if (form.variables === undefined) return found
  const prefix = `${form.variables}_`
  for (const { name, value, valueFrom } of env ?? []) {
    if (!name.startsWith(prefix)) continue
    const flag = name.slice(prefix.length).toLowerCase().replaceAll('_', '-')
    if (value !== undefined) {
      found.set(flag, [{ value, shown: `${name}=${speakable(flag, value, form)}` }])
    } else if (valueFrom !== undefined && flag !== 'node-id') {
      const text = `its value comes from elsewhere and was not read: give it as --${flag} and import again`
      remarks.push({ kind: 'Unread', what: name, text })
    }
  }
  if ((envFrom ?? []).length > 0) {
    const text = `variables ${prefix}… may come from there and were not read: give them as flags and import again`
    remarks.push({ kind: 'Unread', what: 'envFrom', text })
  }
  return found
}

/** A path in the container as the host knows it. */
export function hostPath(daemonSet: ForeignDaemonSet, container: ForeignContainer, path: string): string {
  const { volumes } = daemonSet.spec.template.spec
  const mounts = [...(container.volumeMounts ?? [])].sort((a, b) => b.mountPath.length - a.mountPath.length)
  for (const { name, mountPath, subPath } of mounts) {
    const folder = mountPath.replace(/\/+$/, '')
    const host = (volumes ?? []).find((volume) => volume.name === name)?.hostPath?.path
    if (host === undefined || (path !== folder && !path.startsWith(`${folder}/`))) continue
    const parts = [host, subPath ?? '', path.slice(folder.length)]
    return `/${parts
      .flatMap((part) => part.split('/'))
      .filter((part) => part !== '')
      .join('/')}`
  }
  return path
}
