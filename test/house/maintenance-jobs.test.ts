import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { maintenancePolicySpecSchema } from '../../src/api/maintenance-policy.ts'

const folder = new URL('../../examples/maintenance-jobs/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

test('the example policy is whole, and names the example scripts by their checksums', () => {
  const policy = maintenancePolicySpecSchema.parse(parse(read('policy.yaml')).spec)
  const named = (policy.maintenance?.jobs ?? []).flatMap(({ name, configMap = name, sha256, validate }) => [
    { script: configMap, sha256 },
    ...(validate ? [{ script: validate.configMap, sha256: validate.sha256 }] : []),
  ])
  for (const { script, sha256 } of named) {
    expect(
      createHash('sha256')
        .update(read(`${script}.sh`))
        .digest('hex'),
      script,
    ).toBe(sha256)
  }
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.sh'))
  expect(scripts.toSorted()).toEqual(named.map(({ script }) => `${script}.sh`).toSorted())
})
