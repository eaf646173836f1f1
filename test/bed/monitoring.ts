// A Prometheus that scrapes one number and an Alertmanager, as real servers on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProgram, freePorts } from './child-program.ts'
import { monitoringPrograms } from './monitoring-programs.ts'

export interface Monitoring {
  readonly prometheus: string
  readonly alertmanager: string
  /** What the metric `shop_errors` is from the next scrape on, a fifth of a second later at most. */
  setErrors(value: number): void
  fireAlert(name: string, severity: string): Promise<void>
  endAlert(name: string, severity: string): Promise<void>
  stopPrometheus(): Promise<void>
  stop(): Promise<void>
}

export async function startMonitoring(): Promise<Monitoring> {
  const programs = await monitoringPrograms()
  const dir = mkdtempSync(join(tmpdir(), 'slipway-monitoring-'))
  let errors = 0
  const metrics = createServer((_request, answer) => {
    answer.setHeader('content-type', 'text/plain; version=0.0.4')
    answer.end(`shop_errors ${errors}\n`)
  })
  const [metricsPort = 0, prometheusPort = 0, alertPort = 0] = await freePorts(3)
  await new Promise<void>((resolve) => metrics.listen(metricsPort, '127.0.0.1', resolve))
  const prometheus = `http://127.0.0.1:${prometheusPort}`
  const alertmanager = `http://127.0.0.1:${alertPort}`
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    `global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs: [{ job_name: shop, static_configs: [{ targets: ["127.0.0.1:${metricsPort}"] }] }]\n`,
  )
  writeFileSync(join(dir, 'alertmanager.yaml'), 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n')
  const asked = [
    new ChildProgram(
      programs.prometheus,
      [
        `--config.file=${join(dir, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(dir, 'tsdb')}`,
        `--web.listen-address=127.0.0.1:${prometheusPort}`,
      ],
      join(dir, 'prometheus.log'),
    ),
    new ChildProgram(
      programs.alertmanager,
      [
        `--config.file=${join(dir, 'alertmanager.yaml')}`,
        `--storage.path=${join(dir, 'alerts')}`,
        `--web.listen-address=127.0.0.1:${alertPort}`,
        '--cluster.listen-address=',
      ],
      join(dir, 'alertmanager.log'),
    ),
  ] as const
  const stop = async () => {
    await Promise.all(asked.map((child) => child.stop('SIGKILL')))
    metrics.closeAllConnections()
    metrics.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
  const tell = async (name: string, severity: string, endsAt: Date) => {
    const body = JSON.stringify([{ labels: { alertname: name, severity }, endsAt: endsAt.toISOString() }])
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${alertmanager}/api/v2/alerts`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`Alertmanager answered ${answer.status}: ${await answer.text()}`)
  }
  const isReady = async (url: string) => (await fetch(`${url}/-/ready`)).ok
  try {
    await asked[0].ready(() => isReady(prometheus))
    await asked[1].ready(() => isReady(alertmanager))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    prometheus,
    alertmanager,
    setErrors: (value) => {
      errors = value
    },
    fireAlert: (name, severity) => tell(name, severity, new Date(Date.now() + 600_000)),
    endAlert: (name, severity) => tell(name, severity, new Date(Date.now() - 1_000)),
    stopPrometheus: () => asked[0].stop('SIGKILL'),
    stop,
  }
}
