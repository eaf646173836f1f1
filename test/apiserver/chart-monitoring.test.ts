// What the chart makes for the Prometheus operator, before an API server that knows its kinds and lets no unknown field pass.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { yamlText } from '../../src/main/yaml-text.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { chart, runHelm, whyNoHelm } from '../bed/helm.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { prometheusKinds, whyNoPrometheusKinds } from '../bed/prometheus-kinds.ts'
import { kubectl } from '../rollout-rig/installation.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoHelm()) ?? (await whyNoPrometheusKinds())
const enabled = ['serviceMonitor.enabled=true', 'prometheusRule.enabled=true', 'grafanaDashboard.enabled=true']
const filled = ['serviceMonitor.labels.release=main', 'prometheusRule.labels.release=main', 'mode=reboots']

describe.skipIf(missing)('the chart and the Prometheus operator', () => {
  let server: ApiServer

  beforeAll(async () => {
    server = await startApiServer({ controllers: false })
    for (const file of await prometheusKinds()) await kubectl(server, ['apply', '--server-side', '-f', file])
    await kubectl(server, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'])
  })
  afterAll(async () => {
    await server?.stop()
  })

  test.each([{ values: enabled }, { values: [...enabled, ...filled] }])('$values', async ({ values }) => {
    const settings = values.flatMap((value) => ['--set', value])
    const text = await runHelm(['template', 'slipway', chart, '--namespace', 'default', ...settings])
    const found = (yamlText.documents(text) as { kind: string; apiVersion: string }[]).filter(({ apiVersion }) =>
      apiVersion.startsWith('monitoring.coreos.com/'),
    )
    expect(found.map(({ kind }) => kind).toSorted()).toEqual(['PrometheusRule', 'ServiceMonitor'])
    const strict = ['create', '--validate=strict', '-f', '-']
    for (const object of found) {
      await kubectl(server, strict, JSON.stringify(object))
      await kubectl(server, ['delete', '-f', '-'], JSON.stringify(object))
      const wrong = JSON.stringify(object).replace('"spec":{', '"spec":{"unknown":1,')
      await expect(kubectl(server, strict, wrong)).rejects.toThrow('unknown field "spec.unknown"')
    }
  })
})
