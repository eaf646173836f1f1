// What the importers of daemons have in common: flags read one by one into fields, and a remark for each that has none.

import type { ForeignContainer, ForeignDaemonSet } from '../../api/foreign-daemon-set.ts'
import { labelKey, objectName } from '../../api/scalars.ts'
import { type Flags, type GivenFlag, hostPath } from './flags.ts'
import { goBoolean, goDuration, goInteger } from './go-values.ts'
import type { Remark } from './imported.ts'
import type { ForeignWindow } from './time-window.ts'

/** What to say of flags that become nothing. */
export type Sayings = Readonly<Record<string, string>>

export class DaemonReading {
  readonly remarks: Remark[]
  readonly #daemonSet: ForeignDaemonSet
  readonly #container: ForeignContainer
  readonly #flags: Flags
  readonly #read = new Set<string>()

  constructor(daemonSet: ForeignDaemonSet, container: ForeignContainer, flags: Flags) {
    this.#daemonSet = daemonSet
    this.#container = container
    this.#flags = flags
    this.remarks = [...flags.remarks]
  }

  /** The last one counts, as in the program itself. */
  text(name: string): string | undefined {
    return this.#given(name).at(-1)?.value
  }

  texts(name: string): readonly string[] {
    return this.#given(name).map(({ value }) => value)
  }

  list(name: string): readonly string[] | undefined {
    const given = this.texts(name)
    return given.length === 0 ? undefined : given.flatMap((text) => text.split(',')).map((text) => text.trim())
  }

  boolean(name: string): boolean {
    return this.#parsed(name, goBoolean, 'true or false') ?? false
  }

  integer(name: string): number | undefined {
    return this.#parsed(name, goInteger, 'a whole number')
  }

  /** In milliseconds. */
  duration(name: string): number | undefined {
    return this.#parsed(name, goDuration, 'a duration such as 1h30m')
  }

  window(days: string): ForeignWindow {
    return {
      days: this.list(days),
      start: this.text('start-time'),
      end: this.text('end-time'),
      timeZone: this.text('time-zone'),
    }
  }

  /** As the host knows it. */
  hostPath(path: string): string {
    return hostPath(this.#daemonSet, this.#container, path)
  }

  /** Where its lock lies, by its flags or by where it is. */
  lockPlace(defaultName: string): { readonly daemonSet: { namespace: string; name: string }; annotation?: string } {
    const { metadata } = this.#daemonSet
    const namespace = this.text('ds-namespace') ?? metadata.namespace ?? 'kube-system'
    const name = this.text('ds-name') ?? metadata.name ?? defaultName
    const annotation = this.text('lock-annotation')
    const isWell = [namespace, name].every((text) => objectName.safeParse(text).success)
    if (!isWell) this.say('ToFillIn', 'ds-name', 'this and its namespace name no DaemonSet that can exist')
    if (annotation !== undefined && !labelKey.safeParse(annotation).success) {
      this.say('ToFillIn', 'lock-annotation', 'it is no name of an annotation')
    }
    return { daemonSet: { namespace, name }, ...(annotation !== undefined && { annotation }) }
  }

  say(kind: Remark['kind'], name: string, text: string): void {
    const given = this.#given(name)
    this.remarks.push({ kind, what: given.at(-1)?.shown ?? `--${name} (default)`, text })
  }

  /** Only of flags that were given. */
  sayEach(kind: Remark['kind'], sayings: Sayings): void {
    for (const [name, text] of Object.entries(sayings)) {
      if (this.#given(name).length > 0) this.say(kind, name, text)
    }
  }

  /** Nodes on which the daemon does not run are left alone by it; the policy knows no such choice. */
  sayWhichNodes(): void {
    const { nodeSelector, affinity } = this.#daemonSet.spec.template.spec
    const labels = Object.entries(nodeSelector ?? {}).filter(([key]) => !/^(beta\.)?kubernetes\.io\/os$/.test(key))
    const text =
      'the policy speaks of every node with an agent: `slipway hold NODE` keeps one out, or give the agents’ DaemonSet the same selector'
    if (labels.length > 0) {
      const what = `nodeSelector ${labels.map(([key, value]) => `${key}=${value}`).join(',')}`
      this.remarks.push({ kind: 'NoEquivalent', what, text })
    }
    if (affinity?.nodeAffinity !== undefined) this.remarks.push({ kind: 'NoEquivalent', what: 'affinity', text })
  }

  /** What nobody has asked for is unknown to us. */
  sayUnknown(): void {
    for (const [name, given] of this.#flags.given) {
      if (this.#read.has(name)) continue
      const what = given.at(-1)?.shown ?? `--${name}`
      this.remarks.push({ kind: 'Unread', what, text: 'this flag is not known: look up what it does' })
    }
  }

  #given(name: string): readonly GivenFlag[] {
    this.#read.add(name)
    return this.#flags.given.get(name) ?? []
  }

  #parsed<T>(name: string, parse: (text: string) => T | undefined, form: string): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = parse(text)
    if (value === undefined) this.say('Unread', name, `it is not ${form}`)
    return value
  }
}
