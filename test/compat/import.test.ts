// Golden pairs: what other tools were told, and what `slipway import` makes of it. After a change on purpose: vitest -u.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { askedByAnnotation } from '../../src/api/audit.ts'
import { directUpdateSpecSchema, directUpdates } from '../../src/api/direct-update.ts'
import { daemonSets } from '../../src/api/kube.ts'
import { maintenancePolicies, maintenancePolicySpecSchema } from '../../src/api/maintenance-policy.ts'
import { expressionFault } from '../../src/core/gates/expression.ts'
import { yamlText } from '../../src/main/yaml-text.ts'
import { cliFixture } from '../cli/cli-fixture.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'

const manifest = (name: string) => readFileSync(new URL(`import/${name}.yaml`, import.meta.url), 'utf8')
const never = new AbortController().signal

function importer(files: Readonly<Record<string, string>> = {}, api = new FakeKubeApi()) {
  const cli = cliFixture(api, {
    yaml: async () => yamlText,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    readFile: async (path) => files[path] ?? manifest(path),
  })
  return {
    cli,
    api,
    run: async (...argv: readonly string[]) => ({
      code: await cli.run('import', ...argv),
      said: cli.out.text + cli.err.text,
    }),
  }
}

interface Made {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly gates?: readonly { readonly expression?: string }[] }
}

const cases = [
  ['kured', 'kured-every-flag', []],
  ['kured', 'kured-every-flag', ['--lock']],
  ['kured', 'kured-by-default', []],
  ['kustodian', 'kustodian-every-flag', []],
  ['kustodian', 'kustodian-every-flag', ['--lock']],
  ['suc', 'suc-k3s', []],
  ['suc', 'suc-scripts', []],
] as const

describe('what other tools were told', () => {
  it.each(cases)('%s: %s %s', async (tool, name, more) => {
    const { code, said } = await importer().run(tool, '-f', name, ...more)
    expect(code).toBe(0)
    const file = `import/${name}${more.length > 0 ? '-with-lock' : ''}.imported.yaml`
    await expect(said).toMatchFileSnapshot(file)
    for (const object of yamlText.documents(said) as Made[]) {
      if (object.kind === 'ConfigMap') continue
      const schema = object.kind === 'DirectUpdate' ? directUpdateSpecSchema : maintenancePolicySpecSchema
      expect(schema.safeParse(object.spec).success).toBe(!JSON.stringify(object).includes('<'))
      for (const { expression } of object.spec?.gates ?? []) {
        if (expression !== undefined) expect(expressionFault(expression)).toBeUndefined()
      }
    }
  })

  it('shows no address that has a token in it', async () => {
    const { said } = await importer().run('kured', '-f', 'kured-every-flag')
    expect(said).toContain('--slack-hook-url=…')
    expect(said).not.toMatch(/token-a|hooks\.slack/)
  })
})

const [daemonSet] = yamlText.documents(manifest('kured-by-default')).flatMap((list) => (list as { items: [] }).items)

describe('import --apply', () => {
  it('writes what it found in the cluster', async () => {
    const api = new FakeKubeApi().put(daemonSets, daemonSet ?? ({} as never))
    const { code, said } = await importer({}, api).run('kured', '--apply')
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('MaintenancePolicy default made\n') })
    const { spec } = await api.get(maintenancePolicies, { name: 'default' }, never)
    expect(spec.reboots).toEqual({ command: ['sh', '-c', '! needs-restarting --reboothint'] })
  })

  const standing = () =>
    new FakeKubeApi().put(maintenancePolicies, {
      metadata: { name: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-15T12:00:00Z' },
      spec: { paused: true, budgets: [{ maxUnavailable: 3 }], drain: { timeout: '5m', unmanagedPods: 'Delete' } },
    })

  it('shows what says otherwise, and leaves it', async () => {
    const api = standing()
    const { code, said } = await importer({}, api).run('kured', '-f', 'kured-by-default', '--apply')
    expect(code).toBe(3)
    expect(said).toContain('- spec.budgets:\n-   - maxUnavailable: 3\n+ spec.budgets:\n+   - maxUnavailable: 1\n')
    expect(said).toContain('nothing was written')
    const { spec } = await api.get(maintenancePolicies, { name: 'default' }, never)
    expect(spec).toMatchObject({ budgets: [{ maxUnavailable: 3 }], drain: { timeout: '5m' } })
    expect(spec.reboots).toBeUndefined()
  })

  it('changes it by --force, and keeps what it says nothing of', async () => {
    const api = standing()
    expect((await importer({}, api).run('kured', '-f', 'kured-by-default', '--apply', '--force')).code).toBe(0)
    const { spec } = await api.get(maintenancePolicies, { name: 'default' }, never)
    expect(spec).toMatchObject({ paused: true, budgets: [{ maxUnavailable: 1 }], drain: { unmanagedPods: 'Delete' } })
    expect(spec.drain?.timeout).toBeUndefined()
    const again = await importer({}, api).run('kured', '-f', 'kured-by-default', '--apply')
    expect(again).toEqual({ code: 0, said: expect.stringContaining('MaintenancePolicy default unchanged') })
  })

  it('writes no Plan that lacks a checksum, and one that has all as a paused update', async () => {
    const refused = await importer().run('suc', '-f', 'suc-k3s', '--apply')
    expect(refused).toEqual({ code: 3, said: expect.stringContaining('k3s-server: spec.binary.sha256') })
    const [patches = ''] = manifest('suc-scripts').split('\n---\n')
    const { run, api } = importer({ patches })
    expect((await run('suc', '-f', 'patches', '--apply')).code).toBe(0)
    const { metadata, spec } = await api.get(directUpdates, { name: 'patches' }, never)
    expect(metadata.annotations).toEqual({ [askedByAnnotation]: api.userName })
    expect(spec).toMatchObject({ desiredState: 'Paused', script: { configMap: 'plan-patches' } })
  })

  it.each([
    ['kured', 'there is no DaemonSet that runs kured in the cluster'],
    ['kustodian', 'there is no DaemonSet that runs kustodian in the cluster'],
    ['suc', 'there is no Plan (upgrade.cattle.io/v1) in the cluster'],
  ])('%s: finds nothing', async (tool, words) => {
    expect(await importer().run(tool)).toEqual({ code: 2, said: expect.stringContaining(words) })
  })

  it('asks which one where there are two', async () => {
    const two = `${manifest('kustodian-every-flag')}\n---\n${manifest('kustodian-every-flag').replace('name: kustodian, n', 'name: other, n')}`
    const { run } = importer({ two })
    expect(await run('kustodian', '-f', 'two')).toMatchObject({
      code: 2,
      said: expect.stringContaining('kube-system/other'),
    })
    expect((await importer({ two }).run('kustodian', '-f', 'two', '--daemonset', 'kube-system/other')).code).toBe(0)
  })
})
