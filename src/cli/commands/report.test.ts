import { describe, expect, it } from 'vitest'
import { agentOf, cliFixture, node, nodeState, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodes } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'

describe('report', () => {
  it('puts those that lag first, with since when an update asked for it', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('report', '--target', 'v1.36.3')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "NODE  ROLE          STATE     KUBELET  LAGS FOR  LAST UPDATE  BEHIND
      w1    Worker        Lagging   v1.35.4  5m        unknown      Kubernetes: v1.35.4, behind v1.36.3
      w2    Worker        Lagging   v1.35.4  5m        unknown      Kubernetes: v1.35.4, behind v1.36.3
      w3    Worker        Lagging   v1.35.4  5m        unknown      Kubernetes: v1.35.4, behind v1.36.3
      w4    Worker        Lagging   v1.35.4  5m        unknown      Kubernetes: v1.35.4, behind v1.36.3
      cp1   ControlPlane  UpToDate  v1.36.3  -         3m ago
      cp2   ControlPlane  UpToDate  v1.36.3  -         3m ago
      cp3   ControlPlane  UpToDate  v1.36.3  -         3m ago

      7 nodes: 4 lag, 3 up to date; held against v1.36.3
      "
    `)
  })

  it('exits with 3 where a node missed the date', async () => {
    const late = cliFixture(upgradeMidway())
    expect(await late.run('report', '--target', 'v1.36.3', '--patched-by', '2026-11-14')).toBe(3)
    expect(late.out.text).toMatch(/^w1 +Worker +Lagging +Overdue/m)
    const early = cliFixture(upgradeMidway())
    expect(await early.run('report', '--target', 'v1.36.3', '--patched-by', '2026-11-15')).toBe(0)
    expect(early.out.text).toMatch(/^w1 +Worker +Lagging +Due/m)
  })

  it.each(['2026-13-01', '2026-02-30', 'tomorrow', '2026-11-15 12:00'])('does not take %s for a date', async (text) => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('report', '--patched-by', text)).toBe(2)
    expect(cli.err.text).toContain('It must be a day such as 2026-12-01')
  })

  it('writes a page of its own that shows markup as text and fetches nothing', async () => {
    const evil = `"><script>alert(1)</script>&<img src=x onerror='x'>`
    const agent = { ...agentOf(), facts: { ...agentOf().facts, os: evil, rebootRequired: evil } }
    const api = new FakeKubeApi().put(nodes, node('w1')).put(nodeStates, nodeState('w1', undefined, agent))
    const cli = cliFixture(api)
    expect(await cli.run('report', '--output', 'html', '--context', evil)).toBe(0)
    const page = cli.out.text
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toMatch(/<script|<img|<link|url\(|@import/)
    expect([...page.matchAll(/<(\w+)/g)].map(([, tag]) => tag)).not.toContain('script')
    expect(page).toContain('prefers-color-scheme: dark')
    expect(page).toContain('@media print')
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/)
  })
})
