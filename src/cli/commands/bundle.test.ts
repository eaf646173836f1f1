import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { directUpdateSpecSchema } from '../../api/direct-update.ts'
import { yamlText } from '../../main/yaml-text.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-bundle-cli-'))
  await mkdir(join(folder, 'in/images'), { recursive: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('slipway bundle', () => {
  it('create makes one, and verify says how it is used', async () => {
    const file = join(folder, 'b.tar')
    await writeFile(join(folder, 'in/images/pause.tar'), 'image')
    const cli = cliFixture(new FakeKubeApi())
    const argv = ['bundle', 'create', join(folder, 'in'), '-o', file, '--architecture', 'arm64']
    expect(await cli.run(...argv), cli.err.text).toBe(0)
    const said = cli.out.text
    expect(said).toContain(`${file} is whole: 1 in images; 1 MB for arm64\n`)
    cli.out.text = ''
    expect(await cli.run('bundle', 'verify', file)).toBe(0)
    expect(cli.out.text).toBe(said)
    const snippet = yamlText.parse(said.slice(said.indexOf('spec:'))) as { readonly spec: object }
    expect(directUpdateSpecSchema.safeParse({ ...snippet.spec, reboot: 'Always' }).error).toBeUndefined()
  })

  it('says what is wrong', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('bundle', 'create', join(folder, 'in'), '-o', join(folder, 'b.tar'))).toBe(2)
    expect(cli.err.text).toContain('there is nothing in it')
    expect(await cli.run('bundle', 'verify', join(folder, 'none.tar'))).toBe(2)
    await writeFile(join(folder, 'b.tar'), 'no tar')
    expect(await cli.run('bundle', 'verify', join(folder, 'b.tar'))).toBe(1)
    expect(cli.err.text).toContain('is cut off')
  })
})
