// The chart's templates of what people do not choose: accounts, rights and admission policies, from the very objects that
// `slipway install` applies. A flag of the installation becomes a condition wherever an object depends on it.

import { stringify } from 'yaml'
import type { InstallSettings, Manifest } from '../../cli/install/manifest.ts'
import { manifests } from '../../cli/install/manifests.ts'

/** Kinds of which people choose something: their templates are written by hand. */
const byHand = new Set(['Namespace', 'Deployment', 'DaemonSet', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'])

const flags = [
  { condition: '.Values.agent.hostService', settings: { hostService: true } },
  { condition: '.Values.foreign.enabled', settings: { foreign: true } },
  { condition: 'eq .Values.mode "reboots"', settings: { only: 'reboots' } },
] as const
type Flag = (typeof flags)[number]

/** What one object looks like under some choice of flags; undefined where it is not there. */
interface Variant {
  readonly chosen: ReadonlySet<Flag>
  readonly text: string | undefined
}

const namespace = 'namespace-of-the-release'
const head = '# Generated from src/cli/install by make chart; do not edit.\n'

/** File name to content. */
export function generatedTemplates(): ReadonlyMap<string, string> {
  const installations = everyChoice(flags).map((chosen) => ({ chosen, objects: objectsOf(chosen) }))
  const keys = new Set(installations.flatMap(({ objects }) => [...objects.keys()]))
  const files = new Map<string, string>()
  for (const key of keys) {
    const objects = installations.flatMap(({ objects }) => objects.get(key) ?? [])
    const variants = installations.map(({ chosen, objects }) => ({ chosen, text: textOf(objects.get(key)) }))
    const file = fileOf(objects[0]?.apiVersion ?? '')
    files.set(file, (files.get(file) ?? head) + template(variants, flags))
  }
  return files
}

/** What a person wrote into an object may look like a template; it must come out as it is. */
export function escaped(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}')
}

function objectsOf(chosen: ReadonlySet<Flag>): ReadonlyMap<string, Manifest> {
  const settings: InstallSettings = Object.assign(
    { namespace, image: 'chosen-by-hand' },
    ...[...chosen].map((flag) => flag.settings),
  )
  const written = manifests(settings).filter(({ kind }) => !byHand.has(kind))
  return new Map(
    written.map((object) => [`${object.kind} ${object.metadata.namespace ?? ''} ${object.metadata.name}`, object]),
  )
}

function everyChoice(all: readonly Flag[]): readonly ReadonlySet<Flag>[] {
  return all.reduce<readonly ReadonlySet<Flag>[]>(
    (choices, flag) => choices.flatMap((chosen) => [chosen, new Set([...chosen, flag])]),
    [new Set()],
  )
}

function template(variants: readonly Variant[], left: readonly Flag[]): string {
  const [first] = variants
  if (variants.every(({ text }) => text === first?.text)) return first?.text ?? ''
  const [flag, ...others] = left
  if (!flag) throw new Error('an object differs although all flags are chosen')
  const yes = template(
    variants.filter(({ chosen }) => chosen.has(flag)),
    others,
  )
  const no = template(
    variants.filter(({ chosen }) => !chosen.has(flag)),
    others,
  )
  if (yes === no) return yes
  if (no === '') return `{{- if ${flag.condition} }}\n${yes}{{- end }}\n`
  if (yes === '') return `{{- if not (${flag.condition}) }}\n${no}{{- end }}\n`
  return `{{- if ${flag.condition} }}\n${yes}{{- else }}\n${no}{{- end }}\n`
}

function textOf(object: Manifest | undefined): string | undefined {
  if (!object) return undefined
  const yaml = stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
  const text = escaped(yaml)
    .replaceAll(new RegExp(`: ${namespace}$`, 'gm'), ': {{ .Release.Namespace | quote }}')
    .replaceAll(namespace, '{{ .Release.Namespace }}')
  return `---\n${text}`
}

function fileOf(apiVersion: string): string {
  return apiVersion.startsWith('admissionregistration.k8s.io/') ? 'admission.yaml' : 'rights.yaml'
}
