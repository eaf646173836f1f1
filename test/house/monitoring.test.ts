// Alerts, runbooks and dashboard speak of what there is.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { metricCatalogue } from '../../src/api/metrics.ts'
import { repository } from './planted-tree.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<string, string>>
}

const alerts: readonly Alert[] = parse(read('deploy/prometheus/rules.yaml')).groups.flatMap(
  ({ rules }: { readonly rules: readonly Alert[] }) => rules,
)
const tested = ['rules-test.yaml', 'rules-slow-test.yaml'].flatMap((file) =>
  parse(read(`deploy/prometheus/${file}`)).tests.map(({ name }: { readonly name: string }) => name),
)
const pages = readdirSync(join(repository, 'docs/runbooks')).toSorted()

function strangers(text: string): readonly string[] {
  const named = [...text.matchAll(/slipway_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''))
  return named.filter((name) => !Object.hasOwn(metricCatalogue, name))
}

describe('alert rules', () => {
  test.each(alerts)('$alert has a runbook, a severity and a test', ({ alert, labels, annotations }) => {
    const page = annotations.runbook_url ?? ''
    expect(page).toMatch(/^docs\/runbooks\/[a-z-]+\.md$/)
    expect(read(page)).toMatch(new RegExp(`^# ${alert}\n`))
    for (const part of ['## What it means', '## How to look', '## How to mend']) expect(read(page)).toContain(part)
    expect(['info', 'warning', 'critical']).toContain(labels.severity)
    expect(annotations.summary).toBeTruthy()
    expect(tested).toContain(alert)
  })

  test('every runbook is of an alert', () => {
    expect(pages).toEqual(alerts.map(({ annotations }) => annotations.runbook_url?.split('/').at(-1)).toSorted())
  })

  test('name series of the catalogue', () => {
    expect(alerts.flatMap(({ expr }) => strangers(expr))).toEqual([])
  })
})

test('the dashboard names series of the catalogue', () => {
  const text = read('deploy/grafana/slipway.json')
  expect(strangers(text)).toEqual([])
  expect(strangers('rate(slipway_unheard_of_total[5m])')).toEqual(['slipway_unheard_of_total'])
})
