// The chart against `slipway install --print`, and each of its values against what it is said to do. Helm renders; no cluster.

import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { InstallSettings, Manifest } from '../../src/cli/install/manifest.ts'
import { manifests } from '../../src/cli/install/manifests.ts'
import { renderDefinitions, renderForeignDefinitions } from '../../src/main/crd/render-definitions.ts'
import { yamlText } from '../../src/main/yaml-text.ts'
import { chart, runHelm, tryHelm, whyNoHelm } from '../bed/helm.ts'
import { flips } from './chart-flips.ts'

const missing = await whyNoHelm()
const namespace = 'ops'
let folder: string

describe.skipIf(missing)('the chart', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-chart-'))
    await cp(chart, folder, { recursive: true })
    // Rules and dashboard are copies of files elsewhere; what they say does not matter here.
    const files = join(folder, 'files')
    await mkdir(files, { recursive: true })
    for (const [name, text] of Object.entries({ 'rules.yaml': 'groups: []\n', 'slipway.json': '{}\n' })) {
      if (!(await readdir(files)).includes(name)) await writeFile(join(files, name), text)
    }
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  const installations: readonly (readonly [name: string, values: object, settings: Partial<InstallSettings>])[] = [
    ['as it comes', {}, {}],
    ['reboots only', { mode: 'reboots' }, { only: 'reboots' }],
    ['agents as services of hosts', { agent: { hostService: true } }, { hostService: true }],
    ['with resources of other systems', { foreign: { enabled: true } }, { foreign: true }],
    [
      'with a lock, another image, and all of it',
      {
        mode: 'reboots',
        agent: { hostService: true },
        foreign: { enabled: true },
        locks: [{ namespace: 'kube-system', name: 'kured' }],
        image: { repository: 'registry.example/slipway', tag: 'v9' },
      },
      {
        only: 'reboots',
        hostService: true,
        foreign: true,
        locks: [{ namespace: 'kube-system', name: 'kured' }],
        image: 'registry.example/slipway:v9',
      },
    ],
  ]
  test.each(installations)('is what slipway install prints: %s', async (_, values, settings) => {
    const version = Object(parse(await readFile(join(chart, 'Chart.yaml'), 'utf8'))).appVersion
    const definitions = [renderDefinitions(), ...(settings.foreign ? [renderForeignDefinitions()] : [])]
    const printed = [
      ...definitions.flatMap((files) => [...files.values()].map((text) => parse(text))),
      ...manifests({ namespace, image: `slipway:${version}`, ...settings }),
    ]
    const rendered = await render({ ...values, namespace: { create: true }, crds: { keep: false } })
    expect(byName(rendered)).toEqual(byName(printed))
  })

  test('a release makes no namespace, and leaves the definitions behind', async () => {
    const rendered = await render({})
    expect(rendered.filter(({ kind }) => kind === 'Namespace')).toEqual([])
    const definitions = rendered.filter(({ kind }) => kind === 'CustomResourceDefinition')
    expect(definitions).toHaveLength(renderDefinitions().size)
    for (const { metadata } of definitions) {
      expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
    }
  })

  test('every value has a flip, and every flip a value', async () => {
    const values: unknown = parse(await readFile(join(chart, 'values.yaml'), 'utf8'))
    expect(Object.keys(flips).toSorted()).toEqual(leavesOf(values).toSorted())
  })

  test.each(Object.entries(flips))('%s is effective', async (path, flip) => {
    // The definitions are large, and most values do not concern them.
    const given = merged({ crds: { install: /^(crds|foreign)\./.test(path) } }, flip.with ?? {})
    const [before, after] = await Promise.all([render(given), render(merged(given, nested(path, flip.to)))])
    const changed = byName(after)
    const difference = Object.fromEntries(
      Object.entries(changed).filter(
        ([name, object]) => JSON.stringify(object) !== JSON.stringify(byName(before)[name]),
      ),
    )
    const gone = Object.keys(byName(before)).filter((name) => !(name in changed))
    expect(JSON.stringify({ difference, gone })).toContain(flip.shows)
  })

  const wrong: readonly (readonly [path: string, value: unknown, complaint: string])[] = [
    ['operator.replicas', 'two', "at '/operator/replicas': got string, want integer"],
    ['operator.replicas', 0, '/operator/replicas'],
    ['operator.metricsPort', 80, '/operator/metricsPort'],
    ['operator.replica', 2, "additional properties 'replica' not allowed"],
    ['agents', {}, "additional properties 'agents' not allowed"],
    ['mode', 'some', '/mode'],
    ['image.digest', 'sha256:1', '/image/digest'],
    ['image.pullSecrets', 'mine', '/image/pullSecrets'],
    ['agent.stateDir', 'var/lib', '/agent/stateDir'],
    ['agent.tolerations', [{ effect: 'Never' }], '/agent/tolerations/0/effect'],
    ['locks', [{ name: 'kured' }], "missing property 'namespace'"],
    ['crds.install', 'yes', '/crds/install'],
    ['operator.podLabels', { team: 1 }, '/operator/podLabels/team'],
  ]
  test.each(wrong)('refuses %s: %j', async (path, value, complaint) => {
    const { code, stderr } = await tryHelm(template(), JSON.stringify(nested(path, value)))
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(complaint) })
  })

  test('says what the ServiceMonitor needs', async () => {
    const values = { serviceMonitor: { enabled: true }, service: { enabled: false } }
    const { code, stderr } = await tryHelm(template(), JSON.stringify(values))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('serviceMonitor.enabled needs service.enabled'),
    })
  })

  test('takes what a template would be for text', async () => {
    const text = await readFile(join(chart, 'templates/generated/rights.yaml'), 'utf8')
    expect(text).toContain('{{- if eq .Values.mode "reboots" }}')
    const rendered = await runHelm(template())
    expect(rendered).not.toContain('{{')
    expect(rendered).not.toContain('namespace-of-the-release')
  })
})

const template = () => ['template', 'slipway', folder, '--namespace', namespace, '--values', '-']

const renderings = new Map<string, Promise<readonly Manifest[]>>()

/** Most flips begin at the same values. */
async function render(values: object): Promise<readonly Manifest[]> {
  const key = JSON.stringify(values)
  const made = renderings.get(key) ?? runHelm(template(), key).then((text) => yamlText.documents(text) as Manifest[])
  renderings.set(key, made)
  return await made
}

function byName(objects: readonly Manifest[]): Readonly<Record<string, Manifest>> {
  return Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace ?? ''} ${object.metadata.name}`, object]),
  )
}

/** A leaf is what a person sets as one: maps of free keys are one value. */
function leavesOf(values: unknown, path: readonly string[] = []): readonly string[] {
  const whole = ['resources', 'nodeSelector', 'labels', 'updateStrategy']
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return [path.join('.')]
  const entries = Object.entries(values)
  if (entries.length === 0 || whole.includes(path.at(-1) ?? '')) return [path.join('.')]
  return entries.flatMap(([key, value]) => leavesOf(value, [...path, key]))
}

function nested(path: string, value: unknown): object {
  return path
    .split('.')
    .toReversed()
    .reduce((inner, key) => ({ [key]: inner }), value) as object
}

function merged(one: object, other: object): object {
  const both: Record<string, unknown> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    const known = both[key]
    const isMap = (thing: unknown) => typeof thing === 'object' && thing !== null && !Array.isArray(thing)
    both[key] = isMap(known) && isMap(value) ? merged(Object(known), Object(value)) : value
  }
  return both
}
