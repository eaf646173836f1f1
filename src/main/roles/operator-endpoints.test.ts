import { describe, expect, it } from 'vitest'
import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.ts'
import { parseAddress, serveEndpoints } from './operator-endpoints.ts'

describe('the endpoints of the operator', () => {
  it('answers kubelet and Prometheus, and stops with the signal', async () => {
    const stop = new AbortController()
    const metrics = new PrometheusMetrics()
    metrics.leading(true)
    metrics.add('slipway_reconciles_total', { controller: 'nodes', outcome: 'ok' })
    metrics.requested({ verb: 'patch', plural: 'nodes', status: 200, ms: 12 })
    let ready = false
    const port = await serveEndpoints({ address: '127.0.0.1:0', isReady: () => ready, metrics }, stop.signal)
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
    expect((await ask('/livez')).status).toBe(200)
    expect((await ask('/readyz')).status).toBe(503)
    ready = true
    expect((await ask('/readyz')).status).toBe(200)
    expect((await ask('/etc/passwd')).status).toBe(404)
    const text = await (await ask('/metrics')).text()
    expect(text).toContain('slipway_leading 1')
    expect(text).toContain('slipway_reconciles_total{controller="nodes",outcome="ok"} 1')
    expect(text).toContain('slipway_api_requests_total{verb="patch",resource="nodes",status="200"} 1')
    stop.abort()
    await expect(ask('/livez')).rejects.toThrow()
  })

  it('says when the port is taken', async () => {
    const stop = new AbortController()
    const endpoints = { isReady: () => true, metrics: new PrometheusMetrics() }
    const port = await serveEndpoints({ ...endpoints, address: '127.0.0.1:0' }, stop.signal)
    await expect(serveEndpoints({ ...endpoints, address: `127.0.0.1:${port}` }, stop.signal)).rejects.toThrow(
      /cannot serve on/,
    )
    stop.abort()
  })

  it.each([
    [':8080', { host: '', port: 8080 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9090', { host: '::1', port: 9090 }],
  ])('reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
  })

  it.each(['8080', ':99999', 'a:b', ''])('refuses "%s"', (text) => {
    expect(() => parseAddress(text)).toThrow(/is not an address/)
  })
})
